"""Interfaces of authorization providers and of sources of public market figures."""

import uuid
from dataclasses import dataclass
from decimal import Decimal
from typing import ClassVar, Protocol

from msgspec import UNSET, UnsetType

from apps.core.errors import ProviderError
from apps.core.messages.documents import Digits, Document, FreeForm, Id

__all__ = [
    "CoinFigures",
    "MarketFigures",
    "ProviderError",
    "Question",
    "TokenUnknown",
    "UpstreamThrottled",
]

PAYMENT = "payment"
REFUND = "refund"
TOKEN = "token_change"  # noqa: S105  # the name of a kind
PAYOUT = "payout"
MANDATE = "mandate"
# The object in X-Mandate: of any form, read by nobody here, handed on as it came.
Envelope = FreeForm


class PaymentDetails(Document, frozen=True, kw_only=True):
    action: ClassVar[str] = PAYMENT

    amount: str
    currency: str


class RefundDetails(Document, frozen=True, kw_only=True):
    """Without an amount it is everything."""

    action: ClassVar[str] = REFUND

    payment_id: Id
    amount: str | None


class TokenDetails(Document, frozen=True, kw_only=True):
    action: ClassVar[str] = TOKEN

    active: bool
    lowest_price: str | UnsetType | None = UNSET


class PayoutDetails(Document, frozen=True, kw_only=True):
    action: ClassVar[str] = PAYOUT

    destination_address: str


class MandateDetails(Document, frozen=True, kw_only=True):
    action: ClassVar[str] = MANDATE

    mandate_ref: str
    per_call_cap_atomic: Digits | None
    expires_at: str


Details = PaymentDetails | RefundDetails | TokenDetails | PayoutDetails | MandateDetails


class QuestionDocument(Document, frozen=True, kw_only=True):
    """A question as an outside service reads it; amounts are strings."""

    action: str
    store_id: Id
    mode: str
    principal: str
    asset_id: str | None
    amount_atomic: Digits | None
    scope: str | None
    issued_today_atomic: Digits
    details: Details
    mandate: Envelope | None


@dataclass(frozen=True)
class Question:
    """An act that an agent wants authorized. `issued_today_atomic` is what the store's mandates of
    the asset add up to this UTC day."""

    details: Details
    store_id: uuid.UUID
    mode: str
    principal: str
    envelope: Envelope | None = None
    asset_id: str | None = None
    amount_atomic: int | None = None
    scope: str | None = None
    issued_today_atomic: int = 0

    @property
    def action(self) -> str:
        return self.details.action

    def document(self) -> QuestionDocument:
        return QuestionDocument(
            action=self.action,
            store_id=str(self.store_id),
            mode=self.mode,
            principal=self.principal,
            asset_id=self.asset_id,
            amount_atomic=None if self.amount_atomic is None else str(self.amount_atomic),
            scope=self.scope,
            issued_today_atomic=str(self.issued_today_atomic),
            details=self.details,
            mandate=self.envelope,
        )


class Authorizer(Protocol):
    """`is_local` ones are asked inside the transaction that acts, so that what they count can't
    change meanwhile."""

    is_local: bool

    def allows(self, question: Question) -> bool:
        """True if the agent may. Raises ProviderError when nobody can be asked."""


class TokenUnknown(Exception):
    """The source knows no coin by this symbol or id."""


class UpstreamThrottled(Exception):
    """The source has had too many questions."""


@dataclass(frozen=True)
class MarketFigures:
    """Public figures of a coin in a currency; as the source says them, never used to price."""

    coin_id: str
    price: int | Decimal
    market_cap: int | Decimal | None
    volume_24h: int | Decimal | None
    change_24h_pct: int | Decimal | None


class CoinFigures(Protocol):
    name: str

    def figures(self, symbol_or_id: str, currency: str) -> MarketFigures:
        """Raises TokenUnknown, UpstreamThrottled or ProviderError."""
