"""Interface of a place that swaps: quoting an amount, and advancing an order.

`prepare` is called before each step and may ask outside; `advance` and `leave` run inside the
caller's transaction, so they never touch the network; the same order is the same swap, once.
"""

import uuid
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from apps.assets.models import Asset
from apps.chain.sending.following import TransferOrder
from apps.core.errors import ProviderError
from apps.core.money import Amount

__all__ = [
    "FAILED",
    "FILLED",
    "SENT",
    "WAITING",
    "NoRoute",
    "ProviderError",
    "SwapOrder",
    "SwapOutcome",
    "SwapProvider",
]

WAITING = "waiting"
SENT = "sent"
FILLED = "filled"
FAILED = "failed"


class NoRoute(Exception):
    """The place doesn't swap this pair, or not this much of it."""


@dataclass(frozen=True)
class SwapOrder:
    """A swap as its provider sees it. `created_at` and the `at` of `advance` are the store's
    time."""

    id: uuid.UUID
    mode: str
    sold: Amount[Asset]
    expected: Amount[Asset]
    least: Amount[Asset]  # of what is bought
    created_at: datetime
    store_id: uuid.UUID | None = None

    @property
    def source(self) -> Asset:
        return self.sold.asset

    @property
    def buy(self) -> Asset:
        return self.expected.asset


@dataclass(frozen=True)
class SwapOutcome:
    """Progress of an order. A filled one tells what it bought; one on a chain names the transfer
    that fills it, and ends with it."""

    state: str
    bought_atomic: int = 0
    reason: str = ""
    transfer: TransferOrder | None = None


class SwapProvider(Protocol):
    """`is_on_chain`: whether a fill moves coins of the hot wallet. Failures are ProviderError."""

    name: str
    is_on_chain: bool

    def quote(self, sold: Amount[Asset], buy: Asset) -> Amount[Asset]:
        """Present yield of the amount. Not inside a transaction. Raises NoRoute or
        ProviderError."""

    def prepare(self, order: SwapOrder) -> None:
        """Asks others for whatever the next step needs. Not inside a transaction; never raises."""

    def advance(self, order: SwapOrder, at: datetime) -> SwapOutcome: ...

    def leave(self, order: SwapOrder) -> None:
        """The transfer of an order has failed."""
