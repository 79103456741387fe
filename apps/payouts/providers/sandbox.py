"""The embedded off-ramp, for test mode and demos: a bank that pays after ten seconds of the store's
time or of real time.

The last four digits of an atomic amount choose what happens; it keeps nothing, the order says it
all.
"""

import hashlib
from datetime import datetime

from apps.assets.models import Asset
from apps.assets.selectors import price_of
from apps.core import clock, money
from apps.core.errors import ErrorCode, ProviderError
from apps.payouts.providers.base import (
    ACCEPTED,
    FAILED,
    SANDBOX_SETTLES_AFTER,
    SETTLED,
    OfframpOrder,
    OfframpOutcome,
    OfframpQuote,
)

FEE_BPS = money.Bps(50)
MAGIC_MODULUS = 10_000
REFUSED = {
    9001: ("insufficient_funds", "The liquidity account is empty"),
    9002: ("destination_invalid", "The bank account does not exist"),
    9003: ("temporarily_unavailable", "The bank is closed"),
    9004: ("unknown", "Declined"),
}
# Closed for the first two attempts, then open.
OPENS_LATER = 9013
OPENS_AT_ATTEMPT = 2
SENT_BACK = 9005
NO_ANSWER = 9006


class OfframpSandbox:
    name = "sandbox"
    poll_seconds = 0

    def __init__(self, deposit_address: str = "") -> None:
        self.deposit_address = deposit_address

    def quote(self, asset: Asset, amount_atomic: int, currency: str) -> OfframpQuote:
        price = price_of(asset, currency, clock.real_now())
        if price is None:
            raise ProviderError(ErrorCode.UNAVAILABLE, "no rate")
        gross = price.worth(money.Amount(asset, amount_atomic)).cents
        fee = money.share(gross, FEE_BPS)
        return OfframpQuote(gross - fee, fee, price.rate)

    def create(self, order: OfframpOrder, at: datetime) -> OfframpOutcome:
        magic = order.amount_atomic % MAGIC_MODULUS
        if magic == NO_ANSWER:
            raise ProviderError(ErrorCode.UNREACHABLE, "timeout")
        if magic in REFUSED or (magic == OPENS_LATER and order.attempt < OPENS_AT_ATTEMPT):
            code, reason = REFUSED.get(magic, REFUSED[9003])
            return OfframpOutcome(FAILED, code=code, reason=reason)
        return OfframpOutcome(
            ACCEPTED, provider_id=self._id(order), deposit_address=self.deposit_address
        )

    def look(self, order: OfframpOrder, at: datetime, real: datetime) -> OfframpOutcome:
        if not self._is_due(order, at, real):
            return OfframpOutcome(ACCEPTED, provider_id=self._id(order))
        if order.amount_atomic % MAGIC_MODULUS == SENT_BACK:
            return OfframpOutcome(
                FAILED, self._id(order), code="destination_invalid", reason="The bank sent it back"
            )
        quote = self.quote(order.asset, order.amount_atomic, order.currency)
        reference = f"TG{self._id(order)[-10:].upper()}"
        return OfframpOutcome(
            SETTLED,
            self._id(order),
            fiat_cents=quote.fiat_cents,
            fee_cents=quote.fee_cents,
            rate=quote.rate,
            bank_reference=reference,
        )

    @staticmethod
    def _is_due(order: OfframpOrder, at: datetime, real: datetime) -> bool:
        by_store = (
            order.submitted_at is not None and order.submitted_at + SANDBOX_SETTLES_AFTER <= at
        )
        by_machine = (
            order.submitted_real_at is not None
            and order.submitted_real_at + SANDBOX_SETTLES_AFTER <= real
        )
        return by_store or by_machine

    @staticmethod
    def _id(order: OfframpOrder) -> str:
        return f"sandbox_{hashlib.sha256(order.reference.encode()).hexdigest()[:24]}"
