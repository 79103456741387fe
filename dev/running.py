"""The set-up's way of running other programs and of speaking to the person. Standard library only.

Each program is in a process group of its own: it ends when this process does, however that ends,
and at once when it is interrupted.
"""

import contextlib
import ctypes
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

KILL_SECONDS = 0.25
_PR_SET_PDEATHSIG = 1
# Loaded before any fork: a child must not.
_LIBC = ctypes.CDLL(None) if sys.platform == "linux" else None
_speaking = threading.RLock()
_changing = threading.Lock()
_programs = set["subprocess.Popen[str]"]()
_interrupted = threading.Event()
_line = ""  # what is on the terminal's last line, to be written over


class SetupStop(Exception):
    """The set-up can't go on; the message is the line for the person."""


class Interrupted(BaseException):
    """Somebody ended the command while a thread of it was at work; nobody hears anything more."""


def say(text: str) -> None:
    """A line for the person, on standard error: standard output belongs to the command. Whole,
    no matter who else speaks."""
    with _speaking:
        sys.stderr.write(f"{_cleared()}{text}\n{_line}")
        sys.stderr.flush()


def keep_below(line: str) -> None:
    """The line of a terminal that is below all others, in place of the one before."""
    global _line
    with _speaking:
        cleared = _cleared()
        _line = line
        sys.stderr.write(f"{cleared}{line}")
        sys.stderr.flush()


def _cleared() -> str:
    return "\r\x1b[K" if _line else ""


def is_terminal() -> bool:
    return sys.stderr.isatty() and os.environ.get("TERM") not in (None, "dumb")


def run(
    *command: str,
    env: Mapping[str, str | None] | None = None,
    cwd: Path | None = None,
    follow: Callable[[str], None] | None = None,
) -> "subprocess.CompletedProcess[str]":
    """A program and what it said. `env` is added to the environment, None takes a name out of it.
    `follow` gets each line as it comes, of both outputs. Raises Interrupted once somebody has
    interrupted."""
    if _interrupted.is_set():
        raise Interrupted
    environ = {**os.environ, **(env or {})}
    with subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT if follow else subprocess.PIPE,
        text=True,
        errors="replace",
        env={name: value for name, value in environ.items() if value is not None},
        cwd=cwd,
        process_group=0,
        preexec_fn=end_with_parent,
    ) as process:
        with _changing:
            _programs.add(process)
        try:
            lines = [*_followed(process, follow)] if follow else []
            output, errors = process.communicate()
        except BaseException:
            _end([process])
            raise
        finally:
            with _changing:
                _programs.discard(process)
    if _interrupted.is_set():
        raise Interrupted
    return subprocess.CompletedProcess(
        command, process.returncode, "".join(lines) + output, errors or ""
    )


def _followed(process: "subprocess.Popen[str]", follow: Callable[[str], None]) -> Iterator[str]:
    assert process.stdout is not None
    for line in process.stdout:
        follow(line)
        yield line


def end_with_parent(number: int = signal.SIGKILL) -> None:
    """In the child: the kernel ends it with the thread that waits for it."""
    if _LIBC is not None:
        _LIBC.prctl(_PR_SET_PDEATHSIG, number)


def interrupt() -> None:
    """End what runs; threads that wait for it, and those that start something, are interrupted."""
    _interrupted.set()
    with _changing:
        programs = list(_programs)
    _end(programs)


def resume() -> None:
    """Programs may be run again: anyone who was interrupted has ended."""
    _interrupted.clear()


def is_interrupted() -> bool:
    return _interrupted.is_set()


def _end(programs: "list[subprocess.Popen[str]]") -> None:
    """Asked first, then made to. A package manager in the middle of a package finishes it."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGKILL):
        for process in programs:
            if number != signal.SIGKILL or "apt-get" not in process.args:  # type: ignore[operator]
                with contextlib.suppress(ProcessLookupError, PermissionError):
                    os.killpg(process.pid, number)
        deadline = time.monotonic() + KILL_SECONDS
        while time.monotonic() < deadline and any(_runs(process) for process in programs):
            time.sleep(0.01)
        if not any(_runs(process) for process in programs):
            return


def _runs(process: "subprocess.Popen[str]") -> bool:
    """Asked without taking its status, which another thread waits for."""
    try:
        fields = Path(f"/proc/{process.pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return False
    return fields[0] != "Z"


def last_line(finished: "subprocess.CompletedProcess[str]") -> str:
    lines = [
        line
        for line in (finished.stderr + finished.stdout).splitlines()
        if line.strip() and "complete log" not in line
    ]
    return lines[-1].strip() if lines else f"exit {finished.returncode}"
