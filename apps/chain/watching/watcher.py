"""Follows one chain: reads each new block, goes back where the chain did, and says when it stood at
the tip.

`step` is one look at the nodes; it may be interrupted anywhere and two watchers of one chain do no
harm.
"""

import contextlib
import threading
from datetime import datetime, timedelta

import structlog
from django.conf import settings
from django.db import Error as DatabaseError
from django.db import connection
from prometheus_client import Counter, Gauge

from apps.chain.models import Address, Head
from apps.chain.nodes import nodes_of
from apps.chain.providers.base import RpcError
from apps.chain.watching import again, block_records
from apps.chain.watching.balance_watch import BalanceWatch
from apps.chain.watching.block_headers import BlockHeader, Inconsistent, header_of
from apps.chain.watching.blocks import read_blocks, read_headers
from apps.chain.watching.internal_transfers import note_unread
from apps.chain.watching.reorg import common_ancestor, is_other_branch
from apps.core import clock
from apps.core.db import locks

CHUNK_MAX = 20
BRANCH_MAX = 64
START_BACK_BLOCKS = 1000
# Nodes keep what addresses held at their newest blocks only: many 128, the demo's forty. Whoever is
# further behind reads on first.
STATES_KEPT = 40
PAUSE_SECONDS_MAX = 30.0

log = structlog.get_logger(__name__)
_scanned = Counter("tillgate_chain_blocks_scanned", "Blocks read", ["chain"])
_reorgs = Counter("tillgate_chain_reorgs", "Times the chain went back", ["chain"])
_lag = Gauge("tillgate_chain_lag_blocks", "Blocks between the tip and what was read", ["chain"])


class Watcher:
    """The watcher of one chain, for one thread."""

    def __init__(self, chain_id: str) -> None:
        self.chain_id = chain_id
        self.facts = block_records.facts_of(chain_id)
        self.nodes = nodes_of(self.facts.chain)
        self._balances = BalanceWatch(self.nodes, self.facts)
        self._chunk = CHUNK_MAX
        self._lease: locks.LockLease | None = None

    def step(self) -> bool:
        """One look; True when there is more to read at once. Raises RpcError and database
        errors."""
        try:
            return self._step(clock.real_now())
        except Inconsistent:
            self.nodes.doubt()
            raise

    def close(self) -> None:
        """Give up the lock and the connections to the nodes."""
        self.nodes.close()
        if self._lease is not None:
            locks.release(self._lease)
            self._lease = None

    def _step(self, at: datetime) -> bool:
        if not self._hold():
            return False
        self.facts = block_records.facts_of(self.chain_id)
        head = Head.objects.filter(chain_id=self.chain_id).first()
        tip = header_of(self.nodes.latest(head.number if head else 0))
        head = head or self._begin(tip)
        if is_other_branch(head, tip):
            self._go_back(head, tip, at)
        elif tip.number > head.number:
            self._read_on(head, tip, at)
        head.refresh_from_db()
        if head.number == tip.number and not self._is_stale(tip, at):
            Head.objects.filter(chain_id=self.chain_id).update(synced_at=at)
        again.read_asked(self.nodes, self.facts, at)
        _lag.labels(self.chain_id).set(max(0, tip.number - head.number))
        return head.number < tip.number

    def _hold(self) -> bool:
        """One watcher per chain works, others wait for it to go. The head's own lock is what keeps
        the facts right."""
        if self._lease is None or not locks.is_held(self._lease):
            self._lease = locks.take(locks.Turn.CHAIN_WATCHER, self.chain_id)
        return self._lease is not None

    def _begin(self, tip: BlockHeader) -> Head:
        """Stand before the first block to read: the configured one, else the tip, or somewhat
        before it when addresses are out already."""
        first = settings.CHAIN_START_BLOCKS.get(self.chain_id)
        if first is None:
            is_awaited = Address.objects.filter(mode=self.facts.chain.mode).exists()
            first = max(0, tip.number - START_BACK_BLOCKS) if is_awaited else tip.number
        header = read_headers(self.nodes, [min(first, tip.number)])[0]
        log.info("chain_begun", chain=self.chain_id, block=header.number)
        return block_records.begin(self.facts, header, self.nodes.genesis_hash)

    def _read_on(self, head: Head, tip: BlockHeader, at: datetime) -> None:
        numbers = range(head.number + 1, min(tip.number, head.number + self._chunk) + 1)
        try:
            blocks = read_blocks(self.nodes, numbers, self.facts.contracts)
        except RpcError:
            if self._chunk == 1:
                raise
            self._chunk = max(1, self._chunk // 2)
            return
        self._chunk = min(self._chunk * 2, CHUNK_MAX)
        if blocks[0].header.parent_hash != head.hash:
            self._go_back(head, tip, at)
            return
        waiting: list[block_records.MatchedBlock] = []
        try:
            for before, block in zip(
                [head.hash, *(item.header.hash for item in blocks)], blocks, strict=False
            ):
                if block.header.parent_hash != before:
                    break
                waiting.append(block_records.match(self.nodes, self.facts, block))
                if waiting[-1].transfers:  # a transaction holds the deposits of one block at most
                    whole, waiting = waiting, []
                    self._record(whole, at)
        finally:  # what a node can't tell of a block holds up none before it
            self._record(waiting, at)
        if blocks[-1].header.number >= tip.number - STATES_KEPT:
            self._look_at_balances(head.number, at)

    def _record(self, blocks: list[block_records.MatchedBlock], at: datetime) -> None:
        if blocks:
            block_records.record_blocks(self.facts, blocks, at)
            _scanned.labels(self.chain_id).inc(len(blocks))

    def _go_back(self, head: Head, tip: BlockHeader, at: datetime) -> None:
        """Follow the chain to its other branch, in one transaction with the blocks that replace
        ours."""
        ancestor = common_ancestor(self.nodes, self.facts.chain, head)
        numbers = range(ancestor.number + 1, min(tip.number, ancestor.number + BRANCH_MAX) + 1)
        parts = [numbers[start : start + CHUNK_MAX] for start in range(0, len(numbers), CHUNK_MAX)]
        blocks = [
            item for part in parts for item in read_blocks(self.nodes, part, self.facts.contracts)
        ]
        for before, block in zip(
            [ancestor.hash, *(item.header.hash for item in blocks)], blocks, strict=False
        ):
            if block.header.parent_hash != before:
                raise Inconsistent(f"{self.chain_id}: the other branch changed while it was read")
        branch = [block_records.match(self.nodes, self.facts, item) for item in blocks]
        block_records.record_branch(self.facts, head, ancestor, branch, at)
        _reorgs.labels(self.chain_id).inc()
        log.warning(
            "chain_reorganized",
            chain=self.chain_id,
            ancestor=ancestor.number,
            depth=head.number - ancestor.number,
        )

    def _look_at_balances(self, number_before: int, at: datetime) -> None:
        every = settings.CHAIN_BALANCE_CHECK_BLOCKS
        head = Head.objects.get(chain_id=self.chain_id)
        if head.number // every <= number_before // every:
            return
        try:
            self._balances.look(head, at)
        except RpcError as error:
            if isinstance(error, Inconsistent):
                self.nodes.doubt()
            note_unread(self.facts.chain, error)

    def _is_stale(self, tip: BlockHeader, at: datetime) -> bool:
        """A node whose newest block is old doesn't know where the tip is."""
        limit = settings.CHAIN_TIP_MAX_AGE_SECONDS
        return bool(limit) and tip.mined_at < at - timedelta(seconds=limit)


def watch(chain_id: str, stop: threading.Event) -> None:
    """Follow a chain until told to stop. What is away or wrong is waited for, a little longer each
    time."""
    watcher: Watcher | None = None
    pause = settings.CHAIN_POLL_SECONDS
    while not stop.is_set():
        try:
            watcher = watcher or Watcher(chain_id)
            has_more = watcher.step()
            pause = settings.CHAIN_POLL_SECONDS
        except block_records.HeadMoved:
            has_more = True
        # One chain's trouble, of whatever kind, must not end the watching of the others.
        except Exception as error:
            has_more = False
            pause = min(pause * 2, PAUSE_SECONDS_MAX)
            watcher = _after(error, watcher, chain_id, pause)
        if not has_more:
            stop.wait(pause)
    _let_go(watcher)
    connection.close()


def _after(
    error: Exception, watcher: Watcher | None, chain_id: str, pause: float
) -> Watcher | None:
    """Which watcher goes on after an error: the same after a node's, a new one after any other."""
    if isinstance(error, RpcError):
        log.warning("watcher_waits", chain=chain_id, error=str(error), seconds=pause)
        return watcher
    log.error(
        "watcher_restarts",
        chain=chain_id,
        error=type(error).__name__,
        seconds=pause,
        exc_info=not isinstance(error, DatabaseError),
    )
    _let_go(watcher)
    connection.close()
    return None


def _let_go(watcher: Watcher | None) -> None:
    """Without the database the lease ends by itself."""
    if watcher is not None:
        with contextlib.suppress(DatabaseError):
            watcher.close()
