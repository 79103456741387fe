"""Processes of ours for tests that kill them or ask them something: each is forked from one that
has loaded Django and every app, which is most of what starting one takes.

A fork has an identifier, connections and an end of its own. Its environment
is its own, but settings were read before; a test of how a process starts starts one.
"""

import gc
import importlib
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
import traceback
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any, NoReturn

ROOT = Path(__file__).resolve().parent.parent
SECONDS = 120
WAIT_SECONDS = 0.02


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
        status, output, errors = self._answer("run", script, environment)
        return subprocess.CompletedProcess(script, status, output, errors)

    def start(self, script: str, log: Path, **environment: str) -> "Fork":
        """One that goes on by itself, the first of its session; what it says is in the log."""
        return Fork(self._answer("start", script, environment, str(log)), self._answer)

    def _answer(self, *order: Any) -> Any:
        assert self._parent.stdin and self._parent.stdout
        self._parent.stdin.write(json.dumps(order) + "\n")
        self._parent.stdin.flush()
        return json.loads(self._parent.stdout.readline())

    def end(self) -> None:
        with self._parent as parent:
            assert parent.stdin
            parent.stdin.close()


class Fork:
    """A process with the methods of Popen that watch and end it."""

    def __init__(self, pid: int, answer: Callable[..., Any]) -> None:
        self.pid = pid
        self.returncode: int | None = None
        self._answer = answer

    def terminate(self) -> None:
        os.kill(self.pid, signal.SIGTERM)

    def poll(self) -> int | None:
        if self.returncode is None:
            self.returncode = self._answer("end_of", self.pid)
        return self.returncode

    def wait(self, timeout: float = SECONDS) -> int:
        """The exit status. Raises subprocess.TimeoutExpired."""
        deadline = time.monotonic() + timeout
        while (status := self.poll()) is None:
            if time.monotonic() > deadline:
                raise subprocess.TimeoutExpired(str(self.pid), timeout)
            time.sleep(WAIT_SECONDS)
        return status


def serve(modules: list[str]) -> NoReturn:
    """The process that is forked. It has no connection and no thread, which no fork would have."""
    import django

    gc.disable()  # what is loaded stays
    django.setup()
    for name in modules:
        importlib.import_module(name)
    gc.freeze()
    gc.enable()

    orders: dict[str, Callable[..., Any]] = {"run": _run, "start": _start, "end_of": _end_of}
    for line in sys.stdin:
        order, *rest = json.loads(line)
        print(json.dumps(orders[order](*rest)), flush=True)
    os._exit(0)  # the interpreter's end would look at everything that is loaded


def _run(script: str, environment: dict[str, str]) -> tuple[int, str, str]:
    with ExitStack() as closing:
        files = [closing.enter_context(tempfile.TemporaryFile()) for _ in ("out", "err")]
        pid = os.fork()
        if not pid:
            signal.alarm(SECONDS)
            _live(script, environment, [file.fileno() for file in files])
        status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
        output, errors = (os.pread(file.fileno(), 2**30, 0).decode() for file in files)
    return status, output, errors


def _start(script: str, environment: dict[str, str], log: str) -> int:
    is_first, tell = os.pipe()
    with Path(log).open("ab") as file:
        pid = os.fork()
        if not pid:
            os.setsid()
            os.close(tell)
            _live(script, environment, [file.fileno()] * 2)
    os.close(tell)
    os.read(is_first, 1)
    os.close(is_first)
    return pid


def _end_of(pid: int) -> int | None:
    ended, status = os.waitpid(pid, os.WNOHANG)
    return os.waitstatus_to_exitcode(status) if ended else None


def _live(script: str, environment: dict[str, str], files: list[int]) -> NoReturn:
    """The fork's whole life. It ends without the handlers of its parent's exit."""
    nothing = os.open(os.devnull, os.O_RDONLY)
    for standard, descriptor in enumerate((nothing, *files)):
        os.dup2(descriptor, standard)
    os.environ.update(environment)
    status = 1
    try:
        exec(script, {"__name__": "__main__"})
        status = 0
    except SystemExit as end:
        status = end.code if isinstance(end.code, int) else int(end.code is not None)
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(status)


if __name__ == "__main__":
    serve(sys.argv[1:])
