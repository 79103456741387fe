"""Swaps against the service's own coins, at its rates less a spread. It never sells more than it has.

Its coins of an asset are what the books don't owe to anybody else: float, fees and what earlier swaps left in the clearing.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta

from apps.assets.models import Asset
from apps.assets.selectors import current_rate
from apps.core import clock, locks, money
from apps.core.errors import ProviderError
from apps.ledger.chart import NETWORK_FEES, SERVICE_FEES, SWAP_CLEARING, TREASURY
from apps.ledger.selectors import account_balance
from apps.swaps.providers.base import FAILED, FILLED, WAITING, NoRoute, Order, Outcome

CURRENCY = "USD"
OWN_KINDS = (TREASURY, SERVICE_FEES, NETWORK_FEES, SWAP_CLEARING)
PATIENCE = timedelta(minutes=15)


@dataclass(frozen=True)
class Treasury:
    """`is_limited` False sells without counting: for simulated coins, which nobody has."""

    spread_bps: int = 50
    is_limited: bool = True

    name = "treasury"
    is_on_chain = False

    def quote(self, source: Asset, buy: Asset, sell_atomic: int) -> int:
        bought = self._price(source, buy, sell_atomic)
        if bought is None:
            raise ProviderError(f"no rate for {source.pk} and {buy.pk}")
        if bought == 0 or not self._has(buy, bought):
            raise NoRoute
        return bought

    def advance(self, order: Order, at: datetime) -> Outcome:
        """Fill at the rates of this moment. Buyers of one asset go one after the other, so that it is never sold twice."""
        self._take_turn(order.buy)
        bought = self._price(order.source, order.buy, order.sell_atomic)
        if bought is None:
            late = order.created_at + PATIENCE <= at
            return Outcome(FAILED if late else WAITING, reason="No current exchange rate")
        if bought < order.min_buy_atomic:
            return Outcome(FAILED, reason="The rate moved beyond the slippage tolerance")
        if not self._has(order.buy, bought):
            return Outcome(FAILED, reason="Not enough liquidity")
        return Outcome(FILLED, bought_atomic=bought)

    def _price(self, source: Asset, buy: Asset, sell_atomic: int) -> int | None:
        real = clock.real_now()
        sold, bought = current_rate(source.pk, CURRENCY, real), current_rate(buy.pk, CURRENCY, real)
        if sold is None or bought is None:
            return None
        return money.exchanged(sell_atomic, sold.rate, source.atomic_decimals, bought.rate, buy.atomic_decimals, self.spread_bps)

    def _has(self, asset: Asset, amount_atomic: int) -> bool:
        if not self.is_limited:
            return True
        return sum(account_balance(None, asset.mode, asset.pk, kind) for kind in OWN_KINDS) >= amount_atomic

    @staticmethod
    def _take_turn(asset: Asset) -> None:
        locks.hold_in_transaction(locks.Turn.TREASURY, asset.pk)
