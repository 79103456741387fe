"""Addresses that are compared with the books because somebody asks for it: a row each, written by
anyone who has a reason. The watcher of the chain looks, notes what it has seen, and deletes the
row.

Many addresses are looked at with one request. One that can't be looked at holds up no other; while
the chain gives no answer the rows wait.
"""

import threading
import time
from collections.abc import Mapping
from datetime import timedelta

import structlog
from django.db import Error as DatabaseError
from django.db import connection

from apps.chain.models import AddressToLook, Head
from apps.chain.nodes import nodes_of
from apps.chain.providers.base import Nodes, RpcError
from apps.chain.watching import block_records
from apps.chain.watching.holdings import HoldingsLook
from apps.chain.watching.watched import WatchedChain, facts_of
from apps.core import jobs
from apps.core.clock import real_now

PAGE = 500
SECONDS_MAX = 60.0
PATIENCE_SECONDS = 10.0
PAUSE_SECONDS = 1.0
SILENT_PAUSE_SECONDS = 5.0
# Who still has a reason by then asks again.
ASKED_FOR_MAX = timedelta(hours=1)

log = structlog.get_logger(__name__)


def ask(chain_id: str, assets: Mapping[str, str]) -> None:
    """Have addresses looked at, each for its asset, once however often it is asked for."""
    at = real_now()
    AddressToLook.objects.bulk_create(
        [
            AddressToLook(address_id=address, chain_id=chain_id, asset_id=asset, asked_at=at)
            for address, asset in sorted(assets.items())
        ],
        ignore_conflicts=True,
    )


def look_asked(chain_id: str) -> bool:
    """Look at what is asked for on a chain, the longest asked first. False when no node says
    anything."""
    rows = AddressToLook.objects.filter(chain=chain_id)
    head = Head.objects.filter(chain_id=chain_id).first() if rows.exists() else None
    if head is None:
        return True
    near = real_now() - ASKED_FOR_MAX, real_now() + ASKED_FOR_MAX
    rows.exclude(asked_at__range=near, asset__chain=chain_id).delete()
    began = time.monotonic()
    chain = ChainLook(head)
    try:
        while not chain.is_silent and time.monotonic() - began < SECONDS_MAX:
            page = dict(rows.order_by("asked_at", "pk").values_list("pk", "asset")[:PAGE])
            if not page:
                break
            chain.look(page)
            if not chain.is_silent:
                rows.filter(pk__in=list(page)).delete()
    finally:
        chain.close()
    if chain.has_noted:
        jobs.announce("chain.addresses_looked")
    return not chain.is_silent


def look_at(head: Head, address: str, asset_id: str) -> bool:
    """Look at one address, and tell whether everything that it holds is booked now. Raises
    RpcError."""
    facts = facts_of(head.chain_id)
    nodes = nodes_of(facts.chain)
    try:
        return bool(HoldingsLook(nodes, facts, head, real_now()).look({address: asset_id}))
    finally:
        nodes.close()


class ChainLook:
    """A chain, as far as it was read when the run began. Its nodes are asked when there is
    something to ask."""

    def __init__(self, head: Head) -> None:
        self.chain_id = head.chain_id
        self.is_silent = False
        self.has_noted = False
        self._head = head
        self._nodes: Nodes | None = None
        self._facts: WatchedChain | None = None

    def look(self, assets: Mapping[str, str]) -> None:
        """A request that fails is made in halves, so that one address harms no other; without any
        answer the chain's addresses wait for the next run."""
        waiting = [dict(assets)] if assets else []
        while waiting and not self.is_silent:
            part = waiting.pop()
            try:
                self._look(part)
            except block_records.HeadMoved:
                self.is_silent = True
            except RpcError as error:
                log.warning("addresses_not_looked_at", chain=self.chain_id, error=str(error))
                self.is_silent = not self._answers()
                halves = list(part.items())
                if len(halves) > 1:
                    middle = len(halves) // 2
                    waiting += [dict(halves[middle:]), dict(halves[:middle])]

    def close(self) -> None:
        if self._nodes is not None:
            self._nodes.close()

    def _look(self, assets: Mapping[str, str]) -> None:
        if self._nodes is None or self._facts is None:
            self._facts = facts_of(self.chain_id)
            self._nodes = nodes_of(self._facts.chain, patience_seconds=PATIENCE_SECONDS)
        holdings = HoldingsLook(self._nodes, self._facts, self._head, real_now())
        explained = holdings.look(assets)
        holdings.note(explained)
        self.has_noted = self.has_noted or bool(explained)

    def _answers(self) -> bool:
        try:
            return self._nodes is not None and bool(self._nodes.call("eth_blockNumber", []))
        except RpcError:
            return False


def stand_by(chain_id: str, stop: threading.Event) -> None:
    """Look at what is asked for until asked to stop; what is away is waited for."""
    pause = PAUSE_SECONDS
    while not stop.wait(pause):
        try:
            pause = PAUSE_SECONDS if look_asked(chain_id) else SILENT_PAUSE_SECONDS
        except Exception as error:  # of one run, whatever it is: the next one begins anew
            pause = SILENT_PAUSE_SECONDS
            log.error(
                "addresses_wait",
                chain=chain_id,
                error=type(error).__name__,
                exc_info=not isinstance(error, DatabaseError),
            )
            connection.close()
    connection.close()
