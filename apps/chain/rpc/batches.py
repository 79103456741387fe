"""Size of a node's batches of calls: learned from its refusals, and kept while the process runs.

What is refused is halved, down to single calls. A minute later a little more is tried: twice as
much, or what lies between the largest batch that worked and the smallest that didn't. Ranges of
blocks are halved as well, and twice as long ten minutes later.
"""

import time

import structlog
from prometheus_client import Gauge

BATCH_MAX = 100
# Blocks whose logs are asked for together; the watcher reads no more at a time.
LOG_SPAN_MAX = 20
GROW_SECONDS = 60.0
SPAN_GROW_SECONDS = 600.0
FORGET_SECONDS = 3600.0
# A node that is slow isn't asked one call at a time for that: it may be down.
SLOW_MIN = 10

log = structlog.get_logger(__name__)
_size = Gauge(
    "tillgate_chain_batch_size", "Calls that a node takes in one request", ["chain", "node"]
)


class LogSpan:
    """The blocks whose logs are asked for together."""

    def __init__(self) -> None:
        self._span = LOG_SPAN_MAX
        self._grows_at = 0.0

    def limit(self) -> int:
        """The most of them in the next question."""
        now = time.monotonic()
        if self._span < LOG_SPAN_MAX and now >= self._grows_at:
            self._span = min(2 * self._span, LOG_SPAN_MAX)
            self._grows_at = now + SPAN_GROW_SECONDS
        return self._span

    def refused(self, span: int) -> None:
        """So many were too many."""
        self._span = max(1, span // 2)
        self._grows_at = time.monotonic() + SPAN_GROW_SECONDS


class BatchSize:
    """The calls that one node takes at once. Threads may share it: each only ever writes a
    guess."""

    def __init__(self) -> None:
        self._size = BATCH_MAX
        self._refused: int | None = None
        self._refused_at = 0.0
        self._grows_at = 0.0

    def limit(self) -> int:
        """Largest number of calls in the next request."""
        now = time.monotonic()
        if self._size >= BATCH_MAX or now < self._grows_at:
            return self._size
        if now - self._refused_at > FORGET_SECONDS:
            self._refused = None
        if self._refused is None:
            return min(2 * self._size, BATCH_MAX)
        return max(self._size, (self._size + self._refused) // 2)

    def accepted(self, count: int, chain: str, node: str) -> None:
        """So many calls were answered in one request."""
        if count > self._size:
            self._set(count, chain, node)

    def refused(self, count: int, chain: str, node: str) -> None:
        """So many were too many, though the node answers one alone."""
        now = time.monotonic()
        self._refused = count
        self._refused_at = now
        self._grows_at = now + GROW_SECONDS
        if count <= self._size:
            self._set(max(1, count // 2), chain, node)

    def slow(self, count: int, chain: str, node: str) -> None:
        """So many took too long."""
        if SLOW_MIN < count <= self._size:
            self._set(max(SLOW_MIN, count // 2), chain, node)

    def _set(self, size: int, chain: str, node: str) -> None:
        self._size = size
        self._grows_at = time.monotonic() + GROW_SECONDS
        _size.labels(chain, node).set(size)
        log.info("node_batch_size", node=node, calls=size)


# By address, which may hold credentials: it is never logged.
_sizes: dict[str, BatchSize] = {}


def batch_size_of(url: str) -> BatchSize:
    """The one of a node, by its address."""
    return _sizes.setdefault(url, BatchSize())
