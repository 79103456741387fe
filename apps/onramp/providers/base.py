"""Interface of a network of card providers: naming methods, quoting, opening a payment, and
reporting its progress.

A quote and a report are claims of an outsider; services decide what is believed. Adapters keep
nothing and never touch the database.
"""

import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Protocol

from apps.core.errors import ProviderError

__all__ = [
    "EXPIRED",
    "FAILED",
    "PAID",
    "PENDING",
    "BadSignature",
    "CustomerPlace",
    "Method",
    "NotOffered",
    "OnrampCoin",
    "OnrampOffer",
    "OnrampOrder",
    "OnrampProvider",
    "Opened",
    "ProviderError",
    "ProviderReport",
    "QuoteRequest",
]

PENDING = "pending"
PAID = "paid"
EXPIRED = "expired"
FAILED = "failed"


class NotOffered(Exception):
    """The network doesn't take this amount this way after all."""


class BadSignature(Exception):
    """A callback that the network did not send, or that can't be read."""


@dataclass(frozen=True)
class CustomerPlace:
    """The customer's place: ISO 3166-1 alpha-2, and a region of the country or nothing."""

    country: str
    region: str = ""


@dataclass(frozen=True)
class OnrampCoin:
    """Coins to be delivered."""

    asset_id: str
    network: str
    atomic_decimals: int


@dataclass(frozen=True)
class Method:
    """A way to pay, as its network names it."""

    id: str
    name: str
    code: str
    letter_id: str
    icon_url: str | None = None


@dataclass(frozen=True)
class QuoteRequest:
    """A quote that is wanted: for a charge, or for a delivery of at least `target_atomic`. `rate`
    is fiat per coin, as we know it."""

    method: Method
    place: CustomerPlace
    currency: str
    coin: OnrampCoin
    rate: Decimal
    charge_cents: int | None = None
    target_atomic: int | None = None


@dataclass(frozen=True)
class OnrampOffer:
    """A provider's offer: charge the card, turn a part of it into coins, deliver them."""

    service_id: str
    service_name: str
    service_slug: str
    charge_cents: int
    converted_cents: int
    crypto_atomic: int
    icon_url: str | None = None
    is_kyc_free: bool = False


@dataclass(frozen=True)
class OnrampOrder:
    """A payment to be opened. The same `id` is the same payment."""

    id: uuid.UUID
    mode: str
    method_id: str
    service_id: str
    place: CustomerPlace
    currency: str
    charge_cents: int
    coin: OnrampCoin
    address: str
    email: str | None
    success_url: str
    cancel_url: str


@dataclass(frozen=True)
class Opened:
    """The customer's next page, and the network's own name of the payment when it has one
    already."""

    url: str
    txid: str | None = None


@dataclass(frozen=True)
class ProviderReport:
    """Progress of a payment, with the network's remarks; None where it says nothing."""

    status: str
    order_id: str = ""
    txid: str | None = None
    amount_cents: int | None = None
    currency: str | None = None
    address: str | None = None


class OnrampProvider(Protocol):
    """Made with its options, the mode, an API key and a webhook secret (both empty where
    `needs_credentials` is False)."""

    name: str
    needs_credentials: bool
    currencies: frozenset[str]
    session_seconds: int
    floor_cents: int
    ceiling_cents: int | None

    @staticmethod
    def mode_of(api_key: str) -> str | None:
        """The mode that a key is for; None when the key doesn't tell."""

    def assets(self) -> tuple[str, ...]:
        """Delivered assets in its mode, best first."""

    def methods(self, place: CustomerPlace, currency: str, coin: OnrampCoin) -> list[Method]:
        """Raises ProviderError."""

    def quote(self, ask: QuoteRequest) -> list[OnrampOffer]:
        """The offers for one method, none when nobody wants it. Raises ProviderError."""

    def open(self, order: OnrampOrder) -> Opened:
        """Raises NotOffered or ProviderError. Not inside a transaction."""

    def status(self, order_id: uuid.UUID, txid: str | None) -> ProviderReport | None:
        """Progress of the payment; None when the network can't be asked. Raises ProviderError."""

    def read_callback(self, headers: Mapping[str, str], body: bytes) -> ProviderReport:
        """Raises BadSignature."""
