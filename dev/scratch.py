"""Place of files of one run: in memory, on a machine with plenty of it.

A database is a thousand files, and tests make many: a file system on disk takes half a minute of
the processor to create them.
"""

import shutil
from functools import cache
from pathlib import Path

MEMORY = Path("/dev/shm")
DISK = Path("/tmp")  # short, as the paths of sockets must be
FREE_MIN_BYTES = 8 * 2**30


@cache
def place() -> Path:
    """The place, the same for as long as the process lives."""
    return MEMORY if has_room(FREE_MIN_BYTES) else DISK


def is_in_memory(path: Path) -> bool:
    return path.resolve().is_relative_to(MEMORY)


def has_room(needed_bytes: int) -> bool:
    """In the file system in memory, which may be small, and in the machine, which may be full."""
    try:
        lines = Path("/proc/meminfo").read_text().splitlines()
        available = next(line.split()[1] for line in lines if line.startswith("MemAvailable:"))
        return min(shutil.disk_usage(MEMORY).free, int(available) * 1024) >= needed_bytes
    except (OSError, StopIteration):
        return False
