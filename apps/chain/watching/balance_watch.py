"""Goes round the open addresses of a chain: every few blocks a bounded number of them is looked at,
and whatever is still unexplained."""

from datetime import datetime, timedelta

from django.db import models

from apps.chain.models import Address, Head, UnexplainedBalance
from apps.chain.networks.families import tells_all
from apps.chain.providers.base import Nodes
from apps.chain.watching.holdings import HoldingsLook
from apps.chain.watching.watched import WatchedChain

ADDRESSES_MAX = 1000
UNEXPLAINED_MAX = 100
# No payment is open for longer; what is no time at all nobody can read.
WATCHED_MAX = timedelta(days=3650)


class BalanceWatch:
    """Remembers where it was."""

    def __init__(self, nodes: Nodes, facts: WatchedChain) -> None:
        self._nodes = nodes
        self._facts = facts
        self._last: tuple[datetime, str] | None = None

    def look(self, head: Head, at: datetime) -> None:
        """Compare balances after the head with what the deposits explain; nothing where blocks tell
        all."""
        if tells_all(self._facts.chain):
            return
        unexplained = UnexplainedBalance.objects.filter(chain=self._facts.chain, settled_at=None)
        assets = dict(
            unexplained.order_by("looked_at").values_list("address", "asset")[:UNEXPLAINED_MAX]
        )
        if self._facts.native_asset_id is not None:
            assets |= dict.fromkeys(self._next(at), self._facts.native_asset_id)
        if assets:
            HoldingsLook(self._nodes, self._facts, head, at).look(assets)

    def _next(self, at: datetime) -> list[str]:
        open_ones = Address.objects.filter(
            native_chain=self._facts.chain,
            watch_balance_until__gt=at,
            watch_balance_until__lt=at + WATCHED_MAX,
        )
        rest = open_ones
        if self._last is not None:
            after, last = self._last
            rest = open_ones.filter(
                models.Q(watch_balance_until__gt=after)
                | models.Q(watch_balance_until=after, address__gt=last)
            )
        rows = list(
            rest.order_by("watch_balance_until", "address").values_list(
                "watch_balance_until", "address"
            )[:ADDRESSES_MAX]
        )
        until, address = rows[-1] if len(rows) == ADDRESSES_MAX else (None, "")
        self._last = None if until is None else (until, address)
        return [address for _, address in rows]
