"""Swaps against the service's own coins, at its rates less a spread. It never sells more than it
has, nor at a rate that others know to be wrong: not at one older than half a minute, in doubt, or
(above an amount) of a single source.

Its coins of an asset are what the books don't owe to anybody else: float, fees and what earlier
swaps left in the clearing.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta

from apps.assets.models import Asset, Rate
from apps.assets.rates import COMPARED, ask_again
from apps.assets.selectors import current_rate
from apps.core import clock, money
from apps.core.db import locks
from apps.core.errors import ErrorCode, ProviderError
from apps.core.money import Amount, Bps, CoinPrice, Fiat
from apps.ledger.chart import NETWORK_FEES, SERVICE_FEES, SWAP_CLEARING, TREASURY
from apps.ledger.selectors import account_balance
from apps.swaps.providers.base import FAILED, FILLED, WAITING, NoRoute, SwapOrder, SwapOutcome

Rates = tuple[Rate, Rate]  # of what is sold, and of what is bought, in dollars
OWN_KINDS = (TREASURY, SERVICE_FEES, NETWORK_FEES, SWAP_CLEARING)
DEFAULT_SPREAD = Bps(50)
PATIENCE = timedelta(minutes=15)
# A rate fills while it is this fresh; one that has moved by more than the spread since the estimate
# must have been asked for just now.
FRESH = timedelta(seconds=30)
JUST_NOW = timedelta(seconds=5)
# A rate of a single source that has jumped is taken for true after this long.
DOUBT = timedelta(minutes=15)


@dataclass(frozen=True)
class Treasury:
    """`is_limited` False sells without counting: for simulated coins, which nobody has.

    Above `one_source_max_cents` (US dollars) two sources of rates must agree.
    """

    spread_bps: Bps = DEFAULT_SPREAD
    is_limited: bool = True
    one_source_max_cents: int = 100_000

    name = "treasury"
    is_on_chain = False

    def quote(self, sold: Amount[Asset], buy: Asset) -> Amount[Asset]:
        real = clock.real_now()
        rates = self._rates(sold.asset, buy, real)
        if rates is None:
            raise ProviderError(ErrorCode.UNAVAILABLE, f"no rate for {sold.asset.pk} and {buy.pk}")
        if doubt := self._doubt(sold, rates, real):
            raise ProviderError(ErrorCode.UNAVAILABLE, doubt)
        bought = self._bought(sold, buy, rates)
        if bought.atomic == 0 or not self._has(bought):
            raise NoRoute
        return bought

    def prepare(self, order: SwapOrder) -> None:
        """Ask for rates where those that are known have grown old or have moved."""
        real = clock.real_now()
        rates = self._rates(order.source, order.buy, real)
        if rates is None or self._is_old(order, rates, real):
            ask_again((order.source, order.buy))

    def advance(self, order: SwapOrder, at: datetime) -> SwapOutcome:
        """Fill at the rates of this moment. Buyers of one asset go one after the other, so that it
        is never sold twice."""
        self._take_turn(order.buy)
        real = clock.real_now()
        rates = self._rates(order.source, order.buy, real)
        hesitation = (
            "No current exchange rate" if rates is None else self._doubt(order.sold, rates, real)
        )
        if rates is not None and not hesitation and self._is_old(order, rates, real):
            hesitation = "The exchange rate is too old"
        if rates is None or hesitation:
            late = order.created_at + PATIENCE <= at
            return SwapOutcome(FAILED if late else WAITING, reason=hesitation)
        bought = self._bought(order.sold, order.buy, rates)
        if bought < order.least:
            return SwapOutcome(FAILED, reason="The rate moved beyond the slippage tolerance")
        if not self._has(bought):
            return SwapOutcome(FAILED, reason="Not enough liquidity")
        return SwapOutcome(FILLED, bought_atomic=bought.atomic)

    def leave(self, order: SwapOrder) -> None:
        """Nothing is sent."""

    def _is_old(self, order: SwapOrder, rates: Rates, real: datetime) -> bool:
        bought = self._bought(order.sold, order.buy, rates)
        has_moved = money.moved_bps(bought.atomic, order.expected.atomic) > self.spread_bps
        return any(
            real - rate.as_of > (JUST_NOW if has_moved else FRESH)
            for rate in rates
            if not rate.is_always_current
        )

    def _doubt(self, sold: Amount[Asset], rates: Rates, real: datetime) -> str:
        """Why nothing is sold at these rates; empty when it may be."""
        quoted = [rate for rate in rates if not rate.is_always_current]
        if any(rate.doubted_at is not None and real - rate.doubted_at < DOUBT for rate in quoted):
            return "The exchange rate is in doubt"
        worth = _price(rates[0], sold.asset).worth(sold)
        if worth > Fiat(self.one_source_max_cents, COMPARED) and not all(
            rate.is_agreed for rate in quoted
        ):
            return "No second source confirms the exchange rate"
        return ""

    @staticmethod
    def _rates(source: Asset, buy: Asset, real: datetime) -> Rates | None:
        sold, bought = (current_rate(asset.pk, COMPARED, real) for asset in (source, buy))
        return None if sold is None or bought is None else (sold, bought)

    def _bought(self, sold: Amount[Asset], buy: Asset, rates: Rates) -> Amount[Asset]:
        return money.exchanged(
            sold, _price(rates[0], sold.asset), _price(rates[1], buy), self.spread_bps
        )

    def _has(self, amount: Amount[Asset]) -> bool:
        if not self.is_limited:
            return True
        return (
            sum(
                account_balance(None, amount.asset.mode, amount.asset.pk, kind)
                for kind in OWN_KINDS
            )
            >= amount.atomic
        )

    @staticmethod
    def _take_turn(asset: Asset) -> None:
        locks.hold_in_transaction(locks.LockKind.TREASURY, asset.pk)


def _price(rate: Rate, asset: Asset) -> CoinPrice[Asset]:
    return CoinPrice(asset, rate.rate, rate.currency)
