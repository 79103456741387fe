"""Follows one chain: reads each new block, goes back where the chain did, and says when it was at
the tip.

`step` is one look at the nodes; it may be interrupted anywhere and two watchers of one chain do no
harm.
"""

import contextlib
import threading
import time
from dataclasses import replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

import structlog
from django.conf import settings
from django.db import Error as DatabaseError
from django.db import connection
from prometheus_client import Counter, Gauge

from apps.assets.models import Chain
from apps.chain.models import Address, Head
from apps.chain.networks.base import BlockHeader, Inconsistent
from apps.chain.networks.families import tells_all
from apps.chain.networks.readers import reader_of
from apps.chain.nodes import announcements_of, nodes_of
from apps.chain.providers.base import RpcError
from apps.chain.watching import again, block_records, tags
from apps.chain.watching.balance_watch import BalanceWatch
from apps.chain.watching.internal_transfers import note_unread
from apps.chain.watching.reorg import common_ancestor, is_other_branch
from apps.chain.watching.second_opinions import SecondOpinions
from apps.chain.watching.sightings import WaitingWatch
from apps.chain.watching.watched import facts_of
from apps.core import clock
from apps.core.db import locks

if TYPE_CHECKING:
    from apps.chain.rpc.announcements import Announcements
    from apps.chain.rpc.notifications import Notifications

    Heard = Announcements | Notifications

CHUNK_MAX = 20
BRANCH_MAX = 64
START_BACK_SECONDS = 12_000
USUAL_BLOCK_SECONDS = 12
# Nodes keep what addresses held at their newest blocks only: many 128, the demo's forty. Anyone who
# is further behind reads on first.
STATES_KEPT = 40
# So many of full nodes' 128 may pass between two looks at what addresses hold.
BLOCKS_BETWEEN_MAX = 64
PAUSE_SECONDS_MAX = 30.0
# Where what waits to be mined is shown, its node is asked so often, or as often as leaves it and us
# nine tenths of the time.
WAITING_SECONDS = 0.5
WAITING_TIMES = 9
# After a look that took so long, an announced block is read once so many times as much has passed.
ANNOUNCED_TIMES = 4

log = structlog.get_logger(__name__)
_scanned = Counter("tillgate_chain_blocks_scanned", "Blocks read", ["chain"])
_reorgs = Counter("tillgate_chain_reorgs", "Times the chain went back", ["chain"])
_lag = Gauge("tillgate_chain_lag_blocks", "Blocks between the tip and what was read", ["chain"])


class Watcher:
    """The watcher of one chain, for one thread."""

    def __init__(self, chain_id: str, announcements: "Heard | None" = None) -> None:
        self.chain_id = chain_id
        self.facts = facts_of(chain_id)
        self.nodes = nodes_of(self.facts.chain)
        self.reader = reader_of(
            self.facts.chain, self.nodes, announcements.waiting if announcements else None
        )
        self._balances = BalanceWatch(self.nodes, self.facts)
        self._waiting = WaitingWatch(self.reader)
        self._opinions = SecondOpinions(chain_id)
        self._chunk = CHUNK_MAX
        self._lease: locks.LockLease | None = None

    def step(self) -> bool:
        """Reads once; True when there is more to read at once. Raises RpcError and database
        errors."""
        try:
            return self._step(clock.real_now())
        except Inconsistent:
            self.reader.doubt()
            raise

    def see_waiting(self) -> None:
        """Notes transactions that were announced whole, where this one reads the chain. Raises
        RpcError and database errors."""
        if self._lease is not None and not tells_all(self.facts.chain):
            self._waiting.look(self.facts, clock.real_now())

    def close(self) -> None:
        """Give up the lock and the connections to the nodes."""
        self.reader.close()
        if self._lease is not None:
            locks.release(self._lease)
            self._lease = None

    def _step(self, at: datetime) -> bool:
        if not self._hold():
            return False
        self.facts = facts_of(self.chain_id)
        head = Head.objects.filter(chain_id=self.chain_id).first()
        tip = self.reader.latest(head.number if head else 0)
        head = head or self._begin(tip)
        self.facts = replace(self.facts, tagged_number=head.tagged_number)
        trust = self._opinions.look(self.facts, tip.number)
        self.facts = replace(self.facts, trust=trust)
        if is_other_branch(head, tip):
            self._go_back(head, tip, at)
        elif tip.number > head.number:
            self._read_on(head, tip, at)
        head.refresh_from_db()
        tagged_number = tags.tagged_number(self.reader, self.facts.chain, head)
        self.facts = replace(self.facts, tagged_number=tagged_number)
        if trust.hashes or tagged_number != head.tagged_number:
            block_records.confirm_at(self.facts, head, at)
        if head.number == tip.number:
            self._waiting.look(self.facts, at)
        if head.number == tip.number and not self._is_stale(tip, at):
            Head.objects.filter(chain_id=self.chain_id).update(synced_at=at)
        again.read_asked(self.reader, self.facts, at)
        _lag.labels(self.chain_id).set(max(0, tip.number - head.number))
        return head.number < tip.number

    def _hold(self) -> bool:
        """Takes the chain's turn: one watcher works, others wait for it to end. The head's own lock
        is what keeps the facts right."""
        if self._lease is None or not locks.is_held(self._lease):
            self._lease = locks.take(locks.LockKind.CHAIN_WATCHER, self.chain_id)
        return self._lease is not None

    def _begin(self, tip: BlockHeader) -> Head:
        """Place the head before the first block to read: the configured one, else the tip, or
        somewhat before it when addresses are out already."""
        first = settings.CHAIN_START_BLOCKS.get(self.chain_id)
        if first is None:
            is_awaited = Address.objects.filter(mode=self.facts.chain.mode).exists()
            back = self._blocks_in(START_BACK_SECONDS) if is_awaited else 0
            first = max(0, tip.number - back)
        header = self.reader.headers([min(first, tip.number)])[0]
        log.info("chain_begun", chain=self.chain_id, block=header.number)
        return block_records.begin(self.facts, header, self.reader.genesis_hash)

    def _read_on(self, head: Head, tip: BlockHeader, at: datetime) -> None:
        numbers = range(head.number + 1, min(tip.number, head.number + self._chunk) + 1)
        try:
            blocks = self.reader.blocks(numbers, self.facts.contracts)
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
                waiting.append(block_records.match(self.reader, self.facts, block))
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
        ancestor = common_ancestor(self.reader, self.facts.chain, head)
        numbers = range(ancestor.number + 1, min(tip.number, ancestor.number + BRANCH_MAX) + 1)
        parts = [numbers[start : start + CHUNK_MAX] for start in range(0, len(numbers), CHUNK_MAX)]
        blocks = [item for part in parts for item in self.reader.blocks(part, self.facts.contracts)]
        for before, block in zip(
            [ancestor.hash, *(item.header.hash for item in blocks)], blocks, strict=False
        ):
            if block.header.parent_hash != before:
                raise Inconsistent(f"{self.chain_id}: the other branch changed while it was read")
        branch = [block_records.match(self.reader, self.facts, item) for item in blocks]
        block_records.record_branch(self.facts, head, ancestor, branch, at)
        _reorgs.labels(self.chain_id).inc()
        log.warning(
            "chain_reorganized",
            chain=self.chain_id,
            ancestor=ancestor.number,
            depth=head.number - ancestor.number,
        )

    def _look_at_balances(self, number_before: int, at: datetime) -> None:
        every = settings.CHAIN_BALANCE_CHECK_BLOCKS or min(
            self._blocks_in(settings.CHAIN_BALANCE_CHECK_SECONDS), BLOCKS_BETWEEN_MAX
        )
        head = Head.objects.get(chain_id=self.chain_id)
        if head.number // every <= number_before // every:
            return
        try:
            self._balances.look(head, at)
        except RpcError as error:
            if isinstance(error, Inconsistent):
                self.reader.doubt()
            note_unread(self.facts.chain, error)

    def _blocks_in(self, seconds: int) -> int:
        """By the network's usual pace."""
        block_milliseconds = self.facts.chain.block_milliseconds or USUAL_BLOCK_SECONDS * 1000
        return max(1, seconds * 1000 // block_milliseconds)

    def _is_stale(self, tip: BlockHeader, at: datetime) -> bool:
        """A node whose newest block is old doesn't know where the tip is."""
        limit = settings.CHAIN_TIP_MAX_AGE_SECONDS
        return bool(limit) and tip.mined_at < at - timedelta(seconds=limit)


def watch(chain_id: str, stop: threading.Event) -> None:
    """Follow a chain until asked to stop. What is away or wrong is waited for, a little longer each
    time."""
    watcher: Watcher | None = None
    announcements: Heard | None = None
    pause = settings.CHAIN_POLL_SECONDS
    while not stop.is_set():
        began = time.monotonic()
        try:
            announcements = announcements or announcements_of(chain_id)
            watcher = watcher or Watcher(chain_id, announcements)
            if announcements is not None:
                announcements.forget_block()
            has_more = watcher.step()
            pause = pause_after(
                watcher.facts.chain,
                time.monotonic() - began,
                is_heard=announcements is not None and announcements.is_connected,
            )
        except block_records.HeadMoved:
            has_more = True
        # One chain's trouble, of whatever kind, must not end the watching of the others.
        except Exception as error:
            has_more = False
            pause = min(pause * 2, PAUSE_SECONDS_MAX)
            watcher = _after(error, watcher, chain_id, pause)
        if not has_more:
            _rest(watcher, announcements, stop, pause, time.monotonic() - began)
    if announcements is not None:
        announcements.close()
    _let_go(watcher)
    connection.close()


def _rest(
    watcher: Watcher | None,
    announcements: "Heard | None",
    stop: threading.Event,
    pause: float,
    took: float,
) -> None:
    """Until the next look is due, or a block is announced. What waits for one is noted
    meanwhile."""
    if announcements is None or watcher is None:
        stop.wait(pause)
        return
    until = time.monotonic() + pause
    stop.wait(min(pause, ANNOUNCED_TIMES * took, WAITING_SECONDS))
    while not stop.is_set() and not announcements.has_block:
        left = until - time.monotonic()
        if left <= 0:
            return
        try:
            watcher.see_waiting()
        except (RpcError, DatabaseError) as error:
            log.warning("waiting_not_noted", chain=watcher.chain_id, error=type(error).__name__)
            stop.wait(left)
            return
        announcements.wait(min(left, WAITING_SECONDS))


def pause_after(chain: Chain, took: float, *, is_heard: bool = False) -> float:
    """Seconds until the next look, after one that took so long; `is_heard` where a node would
    announce what is new."""
    usual: float = settings.CHAIN_POLL_SECONDS
    if is_heard or not tells_all(chain):
        return usual
    return min(usual, max(WAITING_SECONDS, WAITING_TIMES * took))


def _after(
    error: Exception, watcher: Watcher | None, chain_id: str, pause: float
) -> Watcher | None:
    """Watcher that goes on after an error: the same after a node's, a new one after any other."""
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
