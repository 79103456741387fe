"""Memory of a long-lived process: loaded code stays, and memory needed only for loading goes back
to the machine."""

import contextlib
import ctypes
import gc

# By default each thread may get a heap of its own, and none gives back what another could use. Two
# are enough under Python's lock.
ARENAS_MAX = 2
_M_ARENA_MAX = -8  # of mallopt(3)
# New objects after which a process that serves looks for garbage, and how often for older one.
SERVING_THRESHOLDS = (7_000, 10, 10)


def share_heaps() -> None:
    """Threads that begin from now on share two heaps of the C library."""
    with contextlib.suppress(OSError, AttributeError):  # not every system's C library has it
        ctypes.CDLL(None).mallopt(_M_ARENA_MAX, ARENAS_MAX)


def freeze_loaded() -> None:
    """Once a process has loaded what it runs: out of the garbage collector's sight, and nothing
    kept that is free.

    A collection looks at every object that is alive, and most are modules that stay for ever;
    looking also writes to them, and what is written to is no longer shared with a child.
    """
    gc.collect()
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL(None).malloc_trim(0)
    gc.freeze()
