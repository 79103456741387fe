"""Processes of ours for tests that kill them or ask them something: each is forked from one that
has loaded Django and every app, which is most of what starting one takes.

A fork has an identifier, connections and an end of its own. What is told to it is in its
environment, but settings were read before; whoever tests how a process starts starts one.
"""

import importlib
import json
import os
import signal
import subprocess
import sys
import tempfile
import traceback
from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import NoReturn

ROOT = Path(__file__).resolve().parent.parent
SECONDS = 120


class Forks:
    """The process that is forked, with the environment that its settings are read from. It loads
    the modules besides."""

    def __init__(self, environment: Mapping[str, str], *modules: str) -> None:
        self._parent = subprocess.Popen(
            [sys.executable, "-m", "tests.forks", *modules],
            cwd=ROOT,
            env={**environment, "DJANGO_SETTINGS_MODULE": "config.settings"},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def run(self, script: str, **environment: str) -> "subprocess.CompletedProcess[str]":
        """How a fork that ran the script ended, after SECONDS at the latest, and what it said."""
        assert self._parent.stdin and self._parent.stdout
        self._parent.stdin.write(json.dumps([script, environment]) + "\n")
        self._parent.stdin.flush()
        status, output, errors = json.loads(self._parent.stdout.readline())
        return subprocess.CompletedProcess(script, status, output, errors)

    def end(self) -> None:
        with self._parent as parent:
            assert parent.stdin
            parent.stdin.close()


def serve(modules: list[str]) -> NoReturn:
    """The process that is forked. It has no connection and no thread, which no fork would have."""
    import django

    django.setup()
    for name in modules:
        importlib.import_module(name)

    for line in sys.stdin:
        script, environment = json.loads(line)
        with ExitStack() as closing:
            files = [closing.enter_context(tempfile.TemporaryFile()) for _ in ("out", "err")]
            pid = os.fork()
            if not pid:
                _run(script, environment, [file.fileno() for file in files])
            status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
            said = [os.pread(file.fileno(), 2**30, 0).decode() for file in files]
        print(json.dumps([status, *said]), flush=True)
    os._exit(0)  # the interpreter's end would look at everything that is loaded


def _run(script: str, environment: dict[str, str], files: list[int]) -> NoReturn:
    """The fork's whole life. It ends without the handlers of its parent's exit."""
    signal.alarm(SECONDS)
    nothing = os.open(os.devnull, os.O_RDONLY)
    for standard, descriptor in enumerate((nothing, *files)):
        os.dup2(descriptor, standard)
    os.environ.update(environment)
    status = 1
    try:
        exec(script, {"__name__": "__main__"})
        status = 0
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(status)


if __name__ == "__main__":
    serve(sys.argv[1:])
