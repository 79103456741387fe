"""Signs of life of a process without a port: a file that its loop touches, and a message to
systemd's watchdog.

It depends on nothing else: a database, a broker or a node that is away is cured by no restart.
"""

import os
import socket
import time
from pathlib import Path

TOUCH_SECONDS = 5.0
_NEVER = float("-inf")


class Liveness:
    """Of this process; `touch` may be called as often as its loop comes round."""

    def __init__(self, file: str) -> None:
        self._file = Path(file) if file else None
        self._watchdog = os.environ.get("NOTIFY_SOCKET", "") if _is_watched() else ""
        self._touched_at = _NEVER

    def touch(self) -> None:
        if time.monotonic() < self._touched_at + TOUCH_SECONDS:
            return
        self._touched_at = time.monotonic()
        if self._file is not None:
            self._file.touch()
        if self._watchdog:
            _notify(self._watchdog)


def _is_watched() -> bool:
    return os.environ.get("WATCHDOG_PID", str(os.getpid())) == str(os.getpid())


def _notify(address: str) -> None:
    """A socket of the abstract kind begins with an @."""
    path = f"\0{address[1:]}" if address.startswith("@") else address
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as manager:
        manager.sendto(b"WATCHDOG=1", path)
