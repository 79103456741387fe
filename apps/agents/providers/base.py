"""Who is asked before an agent acts: the store's authorization provider, and where public market figures come from."""

import uuid
from dataclasses import dataclass, field
from typing import Any, Protocol

from apps.core.errors import ProviderError

__all__ = ["MarketData", "MarketFigures", "ProviderError", "Question", "TokenUnknown", "UpstreamThrottled"]

PAYMENT, REFUND, TOKEN, PAYOUT, MANDATE = "payment", "refund", "token_change", "payout", "mandate"


@dataclass(frozen=True)
class Question:
    """What an agent wants to do. `issued_today_atomic` is what the store's mandates of the asset add up to this UTC day."""

    action: str
    store_id: uuid.UUID
    mode: str
    principal: str
    asset_id: str | None = None
    amount_atomic: int | None = None
    scope: str | None = None
    issued_today_atomic: int = 0
    details: dict[str, Any] = field(default_factory=dict)
    header: dict[str, Any] | None = None  # the X-Mandate header, when it could be read

    def told(self) -> dict[str, Any]:
        """As JSON for an outside service; amounts are strings."""
        return {
            "action": self.action,
            "store_id": str(self.store_id),
            "mode": self.mode,
            "principal": self.principal,
            "asset_id": self.asset_id,
            "amount_atomic": None if self.amount_atomic is None else str(self.amount_atomic),
            "scope": self.scope,
            "issued_today_atomic": str(self.issued_today_atomic),
            "details": self.details,
            "mandate": self.header,
        }


class Authorizer(Protocol):
    """`is_local` ones are asked inside the transaction that acts, so that what they count can't change meanwhile."""

    is_local: bool

    def allows(self, question: Question) -> bool:
        """Whether the agent may. Raises ProviderError when nobody can be asked."""


class TokenUnknown(Exception):
    """The source knows no coin by this symbol or id."""


class UpstreamThrottled(Exception):
    """The source has had too many questions."""


@dataclass(frozen=True)
class MarketFigures:
    """Public figures of a coin in a currency; as the source says them, never used to price."""

    coin_id: str
    price: Any
    market_cap: Any
    volume_24h: Any
    change_24h_pct: Any


class MarketData(Protocol):
    name: str

    def figures(self, symbol_or_id: str, currency: str) -> MarketFigures:
        """Raises TokenUnknown, UpstreamThrottled or ProviderError."""
