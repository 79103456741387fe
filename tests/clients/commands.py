"""Commands that go on while a test does something else: neither they nor their time limits outlive
it."""

import subprocess
import threading
from contextlib import ExitStack
from pathlib import Path

SECONDS = 120


class Commands:
    """Those of one test. Who reads from one that says nothing more is let go after SECONDS."""

    def __init__(self) -> None:
        self._ends = ExitStack()

    def start(
        self, command: list[str | Path], environment: dict[str, str]
    ) -> "subprocess.Popen[str]":
        process = subprocess.Popen(
            command,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        self._ends.enter_context(process)
        self._ends.callback(process.kill)
        limit = threading.Timer(SECONDS, process.kill)
        limit.start()
        self._ends.callback(limit.cancel)
        return process

    def end(self) -> None:
        self._ends.close()
