"""Refundable part of a completed payment, and its value at the locked rate and today's.

Read for people who choose an amount; nothing is kept or reserved.
"""

from dataclasses import dataclass

from apps.assets.models import Asset
from apps.assets.selectors import valued
from apps.core import clock
from apps.core.money import Amount, CoinPrice
from apps.payments.models import Payment
from apps.payments.selectors import Received, received_by
from apps.payments.services.refund_shares import refundable_amounts
from apps.payments.services.worth import MaximumAmount

LOCKED = "locked"
TODAY = "today"


@dataclass(frozen=True)
class Refundable:
    """A coin of a payment of which something can go back. `current` is None when nobody knows what
    it is worth now."""

    remaining: Amount[Asset]
    locked: CoinPrice[Asset]
    current: CoinPrice[Asset] | None

    @property
    def asset(self) -> Asset:
        return self.remaining.asset

    @property
    def at_locked(self) -> MaximumAmount:
        return MaximumAmount(self.remaining, self.locked)

    @property
    def at_today(self) -> MaximumAmount | None:
        return None if self.current is None else MaximumAmount(self.remaining, self.current)

    def at(self, rate: str) -> MaximumAmount | None:
        """Maximum by the name of the rate."""
        return self.at_today if rate == TODAY else self.at_locked


def confirmed_of(payment: Payment) -> list[Received]:
    """The coins of which something has confirmed."""
    return [
        intake
        for intake in received_by(payment)
        if any(row.status == "confirmed" for row in intake.deposits)
    ]


def refundable(payment: Payment, received: list[Received]) -> list[Refundable]:
    """Each of these coins of a completed payment of which something is left, in their order. Two
    questions for all."""
    currency = payment.settlement_currency
    remaining = refundable_amounts(payment, received)
    rates = (
        {asset.pk: rate for asset, rate in valued(remaining, currency, clock.real_now())}
        if remaining
        else {}
    )
    options = []
    for intake in received:
        asset = intake.address.asset
        if asset.pk not in remaining:
            continue
        now = rates.get(asset.pk)
        locked = CoinPrice(asset, intake.address.exchange_rate, currency)
        current = None if now is None else CoinPrice(asset, now, currency)
        options.append(Refundable(Amount(asset, remaining[asset.pk]), locked, current))
    return options
