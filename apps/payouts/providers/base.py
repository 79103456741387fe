"""Interface of an off-ramp: quoting an amount, taking an order once per reference, and reporting
its progress.

Every call goes over the network, so never inside a transaction. The same reference is the same
order, however often it is sent.
"""

from dataclasses import dataclass, field
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Protocol

from apps.assets.models import Asset
from apps.core.errors import ProviderError

__all__ = [
    "ACCEPTED",
    "FAILED",
    "SANDBOX_SETTLES_AFTER",
    "SETTLED",
    "Offramp",
    "OfframpOrder",
    "OfframpOutcome",
    "OfframpQuote",
    "ProviderError",
]

# When the embedded off-ramp, which test mode has, has paid.
SANDBOX_SETTLES_AFTER = timedelta(seconds=10)
ACCEPTED = "accepted"
SETTLED = "settled"
FAILED = "failed"


@dataclass(frozen=True)
class OfframpQuote:
    """Amount for the bank and the off-ramp's share, in minor units; `rate` is fiat per coin."""

    fiat_cents: int
    fee_cents: int
    rate: Decimal


@dataclass(frozen=True)
class OfframpOrder:
    """A bank payout as its off-ramp sees it. The moments are null before it was accepted."""

    reference: str
    mode: str
    asset: Asset
    amount_atomic: int
    currency: str
    holder: str
    account: str = field(repr=False)
    attempt: int = 0
    submitted_at: datetime | None = None
    submitted_real_at: datetime | None = None


@dataclass(frozen=True)
class OfframpOutcome:
    """Progress of an order. An accepted one may name the address that the coins go to; a failed one
    its category."""

    state: str
    provider_id: str = ""
    deposit_address: str = ""
    fiat_cents: int | None = None
    fee_cents: int | None = None
    rate: Decimal | None = None
    bank_reference: str = ""
    code: str = "unknown"
    reason: str = ""


class Offramp(Protocol):
    """Failures are ProviderError: what became of the call is not known then, and the same order may
    be sent again."""

    name: str
    poll_seconds: int  # how often one order may be asked about, at first

    def quote(self, asset: Asset, amount_atomic: int, currency: str) -> OfframpQuote: ...

    def create(self, order: OfframpOrder, at: datetime) -> OfframpOutcome: ...

    def look(self, order: OfframpOrder, at: datetime, real: datetime) -> OfframpOutcome: ...
