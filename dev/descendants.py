"""A process's descendants: ended together, in sessions of their own as well. Standard library
only."""

import contextlib
import ctypes
import os
import signal
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

_PR_SET_CHILD_SUBREAPER = 36
_LIBC = ctypes.CDLL(None) if sys.platform == "linux" else None
OWN_SECONDS = 0.35  # a terminal's Ctrl-C has reached most of them
ASKED_SECONDS = 0.15
KILLED_SECONDS = 0.15
TELLING_SECONDS = 0.3
KEEPER_SECONDS = 2.0


def adopt() -> None:
    """From now on a descendant whose parent ends is still one of ours."""
    if _LIBC is not None:
        _LIBC.prctl(_PR_SET_CHILD_SUBREAPER, 1)


def end_all(is_keeper: Callable[[bytes], bool], *, is_told: bool = True) -> None:
    """End every descendant, by force within a second. `is_told` says that a Ctrl-C has reached
    them: our own children are left a moment longer then, as pytest tells what has failed so far. A
    keeper, known by its command line, ends by itself when those are gone that it waits for, and is
    waited for. Those whose parent has ended before adopt aren't found."""
    firsts = _children() if is_told else set()

    def all_but_keepers() -> list[int]:
        return [pid for pid, command in _running() if not is_keeper(command)]

    def others() -> list[int]:
        return [pid for pid in all_but_keepers() if pid not in firsts]

    if is_told:
        _wait(OWN_SECONDS, all_but_keepers)
    for number, seconds in ((signal.SIGTERM, ASKED_SECONDS), (signal.SIGKILL, KILLED_SECONDS)):
        _send(others(), number)
        _wait(seconds, others)
    if is_told:
        _wait(TELLING_SECONDS, all_but_keepers)
    _send(all_but_keepers(), signal.SIGKILL)
    _wait(KEEPER_SECONDS, _running)


def _send(pids: Iterable[int], number: signal.Signals) -> None:
    for pid in pids:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.kill(pid, number)


def _children() -> set[int]:
    text = Path(f"/proc/self/task/{os.getpid()}/children")
    with contextlib.suppress(OSError):
        return {int(pid) for pid in text.read_text().split()}
    return set()


def _wait(seconds: float, unfinished: Callable[[], Sequence[object]]) -> None:
    deadline = time.monotonic() + seconds
    while unfinished() and time.monotonic() < deadline:
        _reap()
        time.sleep(0.02)


def _reap() -> None:
    """Reaps children; a keeper sees an adopted one until then."""
    with contextlib.suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass


def _running() -> list[tuple[int, bytes]]:
    """Descendants that have not ended, with their command lines. One whose first thread has ended
    looks ended, and still has its children while another thread runs."""
    children: dict[int, list[int]] = {}
    ended = set()
    for entry in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            state, parent = (entry / "stat").read_text().rpartition(")")[2].split()[:2]
            children.setdefault(int(parent), []).append(int(entry.name))
            if state == "Z":
                ended.add(int(entry.name))
    descendants = []
    parents = [os.getpid()]
    while parents:
        for pid in children.get(parents.pop(), ()):
            parents.append(pid)
            if pid in ended:
                continue
            with contextlib.suppress(OSError):
                descendants.append((pid, Path(f"/proc/{pid}/cmdline").read_bytes()))
    return descendants
