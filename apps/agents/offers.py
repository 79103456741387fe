"""Offers over x402: what a payer may sign. The terms of a sealed one travel as text with the price,
and nothing else remembers them: looking at a price leaves nothing behind (decision 815).

A seal is the service's own signature over the terms: nobody else can make one or change it.
"""

import uuid
from dataclasses import dataclass
from typing import Self

import msgspec
from django.core import signing
from msgspec import Struct

from apps.agents.models import PaymentOffer
from apps.assets.models import Asset
from apps.core.messages.invalid import Invalid
from apps.payments.models import Payment

SALT = "x402.offer"
# It is sent in headers, with what else is said of a price, and back.
LENGTH_MAX = 3000


class SealedPrice(Struct, frozen=True, array_like=True):
    """One way to pay: what `FixedPrice` promises of an asset."""

    asset_id: str
    index: int
    required_atomic: int
    base_atomic: int | None
    fee_atomic: int | None


class Terms(Struct, frozen=True, kw_only=True, array_like=True):
    """The payment that will be made, and the prices of which one may be signed. The times are Unix
    seconds by the store's clock."""

    store_id: uuid.UUID
    mode: str
    payment_id: uuid.UUID
    reference: str
    prices: tuple[SealedPrice, ...]
    amount: str
    currency: str
    expires_at: int
    expires_in: int
    timeout_seconds: int
    resource: str
    description: str | None
    mime_type: str | None
    order_id: str | None
    metadata: dict[str, str]
    customer_pays_fee: bool | None
    key: str | None
    title: str | None = None
    success_url: str | None = None

    def seal(self) -> str:
        """Raises Invalid when it is too long for a header."""
        text = signing.dumps(msgspec.to_builtins(self), salt=SALT, compress=True)
        if len(text) > LENGTH_MAX:
            raise Invalid("metadata", "too_large", maximum=LENGTH_MAX)
        return text

    @classmethod
    def unseal(cls, text: object) -> Self | None:
        """None for what isn't a seal of ours."""
        if not isinstance(text, str) or len(text) > LENGTH_MAX:
            return None
        try:
            return msgspec.convert(signing.loads(text, salt=SALT), cls)
        except (signing.BadSignature, msgspec.ValidationError):
            return None


@dataclass(frozen=True)
class Offer:
    """An offer that a payer may sign: an amount of a token, for an address.

    `recorded` is its row, which is made with the first signature. Before it there may be the
    `payment`, created by other means; without one the `terms` and their `seal` are all there is.
    """

    asset: Asset
    pay_to: str
    amount_atomic: int
    timeout_seconds: int
    payment_id: uuid.UUID
    reference: str
    resource: str
    description: str | None = None
    mime_type: str | None = None
    recorded: PaymentOffer | None = None
    payment: Payment | None = None
    terms: Terms | None = None
    seal: str = ""
    surcharge_atomic: int = 0

    @property
    def signed_atomic(self) -> int:
        """Amount that the payer signs, with the surcharge of the checkout."""
        return self.amount_atomic + self.surcharge_atomic
