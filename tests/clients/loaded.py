"""The command line in a process that has loaded it and is forked for each call: loading is most of
what one takes. It is run by the Python of the environment that has the package, and knows nothing
of ours."""

import json
import os
import signal
import subprocess
import sys
import tempfile
import traceback
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from importlib import import_module
from pathlib import Path
from typing import Any, NoReturn

SECONDS = 120


class Loaded:
    """`call` is what running the program is, but for its start."""

    def __init__(self, program: Path) -> None:
        self._parent = subprocess.Popen(
            [program.parent / "python", "-I", __file__],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def call(
        self, arguments: Sequence[str], environment: Mapping[str, str], text: str
    ) -> "subprocess.CompletedProcess[str]":
        assert self._parent.stdin and self._parent.stdout
        self._parent.stdin.write(json.dumps([arguments, dict(environment), text]) + "\n")
        self._parent.stdin.flush()
        status, output, errors = json.loads(self._parent.stdout.readline())
        return subprocess.CompletedProcess(arguments, status, output, errors)

    def end(self) -> None:
        with self._parent as parent:
            assert parent.stdin
            parent.stdin.close()


def serve() -> None:
    app = import_module("tillgate.cli.app")
    for line in sys.stdin:
        arguments, environment, text = json.loads(line)
        with ExitStack() as closing:
            files = [closing.enter_context(tempfile.TemporaryFile()) for _ in range(3)]
            files[0].write(text.encode())
            files[0].seek(0)
            pid = os.fork()
            if not pid:
                _run(app.run, arguments, environment, files)
            status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
            said = [os.pread(file.fileno(), 2**30, 0).decode() for file in files[1:]]
        print(json.dumps([status, *said]), flush=True)


def _run(
    run: Any, arguments: list[str], environment: dict[str, str], files: Sequence[Any]
) -> NoReturn:
    """The fork's whole life."""
    signal.alarm(SECONDS)
    for standard, file in enumerate(files):
        os.dup2(file.fileno(), standard)
    sys.stdin = os.fdopen(0)  # of the parent's it may have read on
    os.environ.clear()
    os.environ.update(environment)
    status = 1
    try:
        status = run(arguments)
    except SystemExit as end:
        status = end.code if isinstance(end.code, int) else int(end.code is not None)
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(status)


if __name__ == "__main__":
    serve()
