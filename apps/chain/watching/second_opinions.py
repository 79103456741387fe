"""A deposit above an amount counts once a second node has named its block: one node alone could
have invented it.

While two nodes name different blocks, nothing is credited on their network. Nothing is kept of what
they said: after a restart they are asked again before anything is confirmed.
"""

import time
from collections.abc import Mapping
from contextlib import closing

import structlog
from django.conf import settings
from django.db.models import F, Q

from apps.chain.models import Deposit
from apps.chain.networks.finality import reach
from apps.chain.networks.readers import reader_of
from apps.chain.nodes import nodes_of
from apps.chain.providers.base import RpcError
from apps.chain.watching.watched import Trust, WatchedChain, thresholds

log = structlog.get_logger(__name__)
AGAIN_SECONDS = 30.0
BLOCKS_AT_ONCE = 20
NODES_NEEDED = 2
_Place = tuple[int, str]  # number and hash of a block


class SecondOpinions:
    """The second node's word on one network, for one watcher."""

    def __init__(self, chain_id: str) -> None:
        self._chain_id = chain_id
        self._named: dict[str, int] = {}
        self._disputed: set[str] = set()
        self._asked_at: dict[str, float] = {}

    def look(self, facts: WatchedChain, tip_number: int) -> Trust:
        """Ask about the blocks of what would be confirmed at a tip."""
        least = thresholds(self._chain_id)
        if not least:
            return Trust({})
        due = self._due(facts, least, tip_number)
        hashes = {block_hash for _, block_hash in due}
        self._named = {known: number for known, number in self._named.items() if known in hashes}
        self._disputed &= hashes
        now = time.monotonic()
        for place in [place for place in due if place[1] not in self._named][:BLOCKS_AT_ONCE]:
            if now - self._asked_at.get(place[1], float("-inf")) >= AGAIN_SECONDS:
                self._asked_at[place[1]] = now
                self._ask(facts, place)
        self._asked_at = {
            asked: moment for asked, moment in self._asked_at.items() if asked in hashes
        }
        return Trust(least, frozenset(self._named), bool(self._disputed))

    def _due(self, facts: WatchedChain, least: Mapping[str, int], tip_number: int) -> list[_Place]:
        newest, counts_confirmations = reach(facts.chain, tip_number, facts.tagged_number)
        above = Q()
        for asset_id, amount in least.items():
            above |= Q(asset=asset_id, amount_atomic__gte=amount)
        rows = Deposit.objects.filter(
            above,
            Q(status=Deposit.Status.CONFIRMING) | Q(status=Deposit.Status.FAILED, is_lost=True),
            chain=self._chain_id,
            is_simulated=False,
            block_number__lte=newest,
        )
        if counts_confirmations:
            rows = rows.filter(block_number__lte=tip_number + 1 - F("required_confirmations"))
        places = rows.values_list("block_number", "block_hash").distinct()
        return sorted((int(number or 0), block_hash) for number, block_hash in places)

    def _ask(self, facts: WatchedChain, place: _Place) -> None:
        """Every node, since nobody knows which of them gave the block."""
        number, block_hash = place
        told = [self._hash_at(facts, url, number) for url in self._urls()]
        others = {found for found in told if found and found != block_hash}
        if others:
            self._disputed.add(block_hash)
            log.error(
                "nodes_disagree",
                chain=self._chain_id,
                block=number,
                hashes=sorted({block_hash, *others}),
            )
            return
        self._disputed.discard(block_hash)
        if told.count(block_hash) >= NODES_NEEDED:
            self._named[block_hash] = number
        else:
            log.warning("second_node_silent", chain=self._chain_id, block=number)

    def _urls(self) -> list[str]:
        return [*dict.fromkeys(settings.CHAIN_URLS.get(self._chain_id, []))]

    @staticmethod
    def _hash_at(facts: WatchedChain, url: str, number: int) -> str:
        """Empty while a node doesn't say, or hasn't got so far."""
        with closing(nodes_of(facts.chain, urls=[url])) as nodes:
            try:
                return reader_of(facts.chain, nodes).headers([number])[0].hash
            except RpcError:
                return ""
