"""Waiting that follows progress: it says what it waits for, and gives up only when nothing has
moved for a while.

Standard library only: the set-up waits with it as well.
"""

import contextlib
import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Protocol

from dev.running import Interrupted, is_interrupted, say

STILL_SECONDS = 60.0
TOLD_SECONDS = 10.0
LOOK_SECONDS = 0.5
PAUSE_SECONDS = 0.02
# A server that has nothing to do takes less of a processor than this.
BUSY_SHARE = 0.01
_TICKS_A_SECOND = os.sysconf("SC_CLK_TCK")


class NothingMoves(TimeoutError):
    """Timeout without progress; the message says what was awaited and that nothing moved."""


class SignsOfProgress(Protocol):
    """Signs of another process's progress."""

    stillness: str  # what it is called when nothing moves: "no new block"

    def has_moved(self) -> bool:
        """True if anything did since this was asked last."""


class ChangingReading:
    """Progress is that a reading differs from the one before."""

    def __init__(self, read: Callable[[], object], stillness: str) -> None:
        self.stillness = stillness
        self._read = read
        self._reading = read()

    def has_moved(self) -> bool:
        before = self._reading
        self._reading = self._read()
        return self._reading != before


class ProcessActivity:
    """Progress is what a process and its children do: processor time, what they read from a disk or
    write to it, and lines in a log."""

    def __init__(self, pid: Callable[[], int | None], log: Path | None = None) -> None:
        self.stillness = "no work of its process" + (f", nothing new in {log}" if log else "")
        self._pid = pid
        self._log = log
        self._at = time.monotonic()
        self._done = self._look()

    def has_moved(self) -> bool:
        seconds, *rest = self._look()
        before, *rest_before = self._done
        at = time.monotonic()
        is_busy = abs(seconds - before) > BUSY_SHARE * (at - self._at)
        if is_busy or rest != rest_before:
            self._at = at
            self._done = (seconds, *rest)
            return True
        return False

    def _look(self) -> tuple[float, ...]:
        """Processor seconds, bytes of disks, and the size of the log."""
        pid = self._pid()
        family = list(_family(pid)) if pid is not None else []
        size = self._log.stat().st_size if self._log and self._log.exists() else 0
        return sum(map(_processor_seconds, family)), sum(map(_disk_bytes, family)), size


def until(
    is_ready: Callable[[], bool],
    awaited: str | Callable[[], str],
    progress: SignsOfProgress,
    *,
    still_seconds: float = STILL_SECONDS,
    pause: float = PAUSE_SECONDS,
) -> None:
    """Ask until it is, and tell the person every few seconds what is waited for. Raises
    NothingMoves."""
    title = awaited if callable(awaited) else lambda: awaited
    moved_at = told_at = looked_at = time.monotonic()
    while not is_ready():
        if is_interrupted():
            raise Interrupted
        now = time.monotonic()
        if now - looked_at >= LOOK_SECONDS:
            looked_at = now
            if progress.has_moved():
                moved_at = now
        if now - moved_at > still_seconds:
            raise NothingMoves(
                f"gave up waiting for {title()}: {progress.stillness} for {still_seconds:.0f} s"
            )
        if now - told_at > TOLD_SECONDS:
            told_at = now
            say(f"waiting for {title()}")
        time.sleep(pause)


def _family(pid: int) -> Iterator[int]:
    """A process and all that it has started, as far as the system tells."""
    parents: dict[int, list[int]] = {}
    for entry in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            parent = int(entry.read_text().rpartition(")")[2].split()[1])
            parents.setdefault(parent, []).append(int(entry.parent.name))
    waiting = [pid]
    while waiting:
        member = waiting.pop()
        yield member
        waiting += parents.get(member, [])


def _processor_seconds(pid: int) -> float:
    with contextlib.suppress(OSError):
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / _TICKS_A_SECOND
    return 0.0


def _disk_bytes(pid: int) -> int:
    with contextlib.suppress(OSError):
        lines = Path(f"/proc/{pid}/io").read_text().splitlines()
        figures = dict(line.split(": ") for line in lines)
        return int(figures["read_bytes"]) + int(figures["write_bytes"])
    return 0
