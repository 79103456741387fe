"""A command in a process that was forked with everything loaded: it waits until it is asked to
begin.

Loading is most of what such a process costs to start, and its pages stay shared with the others.
"""

import json
import os
import signal
import subprocess
import sys
import time
import traceback
import warnings
from pathlib import Path
from urllib.parse import urlsplit

from django.conf import settings
from django.db import connections

from config import web
from dev import demo_environment, embedded

WAIT_SECONDS = 0.02
WEB_PROGRAM = "config.web"
# What writes to those that wait, in the process that forked them: a copy in another child would
# keep a pipe open.
_gates: list[int] = []


class Warm:
    """A Popen's interface for its watcher: `pid`, `stdout`, `poll` and `wait`."""

    def __init__(self, name: str, command: list[str]) -> None:
        gate, self._gate = os.pipe()
        lines, output = os.pipe()
        _gates.append(self._gate)
        self.pid = os.fork()
        if self.pid == 0:
            _run(name, command, gate, output)
        os.close(gate)
        os.close(output)
        self.stdout = os.fdopen(lines, "rb")
        self.returncode: int | None = None

    def begin(self, environment: dict[str, str]) -> None:
        """Let it go, with this process's environment as it is now and these names besides."""
        os.write(self._gate, json.dumps({**os.environ, **environment}).encode())
        self._close_gate()

    def poll(self) -> int | None:
        if self.returncode is None:
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                self.returncode = os.waitstatus_to_exitcode(status)
        return self.returncode

    def wait(self, timeout: float | None = None) -> int:
        """The exit status. Raises subprocess.TimeoutExpired."""
        deadline = None if timeout is None else time.monotonic() + timeout
        while (status := self.poll()) is None:
            if deadline is not None and time.monotonic() > deadline:
                raise subprocess.TimeoutExpired(str(self.pid), timeout or 0)
            time.sleep(WAIT_SECONDS)
        self._close_gate()
        return status

    def _close_gate(self) -> None:
        if self._gate in _gates:
            _gates.remove(self._gate)
            os.close(self._gate)


def _run(name: str, command: list[str], gate: int, output: int) -> None:
    """The child's whole life. It ends without the handlers of its parent's exit: the services
    aren't its own."""
    status = 1
    try:
        Path("/proc/self/comm").write_text(f"tillgate {name}")  # its command line is its parent's
        _detach(gate, output)
        if environment := _read_environment(gate):
            os.environ.update(json.loads(environment))
            take_role()
            execute(command)
        status = 0
    except SystemExit as end:
        status = end.code if isinstance(end.code, int) else int(end.code is not None)
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(status)


def _detach(gate: int, output: int) -> None:
    os.setsid()
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)
    for other in _gates:
        os.close(other)
    embedded.leave_to_parent()
    demo_environment.leave_to_parent()
    nothing = os.open(os.devnull, os.O_RDONLY)
    for descriptor, standard in ((nothing, 0), (output, 1), (output, 2)):
        os.dup2(descriptor, standard)
    sys.stdout.reconfigure(line_buffering=True)  # type: ignore[union-attr]  # of this process it is a text stream


def _read_environment(gate: int) -> bytes:
    """Empty when the parent ended instead of telling."""
    with os.fdopen(gate, "rb") as pipe:
        return pipe.read()


def take_role() -> None:
    """The settings were read before: the role is this process's own, and so is that it approves
    nothing."""
    connections.settings["default"]["USER"] = urlsplit(os.environ["DATABASE_URL"]).username or ""
    if os.environ.get("APPROVAL_KEYS") == "none":
        settings.APPROVAL_KEYS = []


def execute(command: list[str]) -> None:
    """The program of a command line, in this process."""
    if command[0] == "nice":
        os.nice(int(command[2]))
        command = command[3:]
    sys.argv = command
    if command[1:3] == ["-m", WEB_PROGRAM]:
        sys.argv = command[2:]
        web.serve()
    elif command[0] == sys.executable:
        from django.core.management import execute_from_command_line

        execute_from_command_line(command[1:])
    else:
        from celery.__main__ import main

        warnings.filterwarnings("ignore", message="You're running the worker with superuser")
        main()
