"""What a process has started, and what that has started: ended together, in sessions of its own as
well. Standard library only."""

import contextlib
import ctypes
import os
import signal
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

_PR_SET_CHILD_SUBREAPER = 36
_LIBC = ctypes.CDLL(None) if sys.platform == "linux" else None
OWN_SECONDS = 0.8  # a terminal's Ctrl-C has reached most of them
ASKED_SECONDS = 0.6
KILLED_SECONDS = 0.4
KEEPER_SECONDS = 2.0


def end_all(is_keeper: Callable[[bytes], bool]) -> None:
    """End every descendant, by force after a second and a half. A keeper, known by its command
    line, ends by itself when those are gone that it waits for, and is waited for."""
    if _LIBC is not None:  # whose parent ends is still one of ours
        _LIBC.prctl(_PR_SET_CHILD_SUBREAPER, 1)

    def others() -> list[int]:
        return [pid for pid, command in _running() if not is_keeper(command)]

    _wait(OWN_SECONDS, others)
    for number, seconds in ((signal.SIGTERM, ASKED_SECONDS), (signal.SIGKILL, KILLED_SECONDS)):
        for pid in others():
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(pid, number)
        _wait(seconds, others)
    _wait(KEEPER_SECONDS, _running)


def _wait(seconds: float, unfinished: Callable[[], Sequence[object]]) -> None:
    deadline = time.monotonic() + seconds
    while unfinished() and time.monotonic() < deadline:
        time.sleep(0.02)


def _running() -> list[tuple[int, bytes]]:
    """Descendants that have not ended, with their command lines."""
    children: dict[int, list[int]] = {}
    for entry in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            state, parent = (entry / "stat").read_text().rpartition(")")[2].split()[:2]
            if state != "Z":
                children.setdefault(int(parent), []).append(int(entry.name))
    descendants = []
    parents = [os.getpid()]
    while parents:
        for pid in children.get(parents.pop(), ()):
            parents.append(pid)
            with contextlib.suppress(OSError):
                descendants.append((pid, Path(f"/proc/{pid}/cmdline").read_bytes()))
    return descendants
