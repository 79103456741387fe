"""Requests about mandates and draws: the same classes for every interface.

`MandateBody` and `SettlementBody` are what the API's callers write; everybody else makes a
`MandateRequest` or a `SettlementRequest`. Fields are in the order in which the contract checks
them.
"""

from typing import Annotated, Any

from msgspec import Struct

from apps.chain.addresses import may_be_secret
from apps.core.messages.documents import FreeForm
from apps.core.messages.fields import (
    NOT_EMPTY,
    POSITIVE_DIGITS,
    AtomicAmount,
    Field,
    Integer,
    Schema,
    Text,
    check_free,
    trimmed_pattern,
)
from apps.core.messages.invalid import Invalid
from apps.core.messages.requests import Request, by

EXPIRES_IN_DEFAULT = 3600
EXPIRES_IN_MIN = 60
EXPIRES_IN_MAX = 31_536_000
DEFAULT_SCOPE = "x402"


class MandateRequest(Struct, frozen=True, kw_only=True):
    """An envelope in one asset: what may be drawn in all and at once, what for, and for how
    long."""

    mandate_ref: str
    asset_id: str
    total_cap_atomic: int
    per_call_cap_atomic: int | None = None
    scope: str = DEFAULT_SCOPE
    expires_in_seconds: int = EXPIRES_IN_DEFAULT


class SettlementRequest(Struct, frozen=True, kw_only=True):
    """A draw on the mandate with this reference or id. Without a nonce it gets one."""

    asset_id: str
    amount_atomic: int
    mandate_ref: str
    nonce: str | None = None
    pay_to: str | None = None
    payer: str | None = None
    requirements: FreeForm | None = None


# --- as the API takes them ------------------------------------------------------------------------


class MandateReference(Text):
    """Text that isn't blank; blank is missing."""

    def check(self, value: Any, name: str) -> str:
        text = super().check(value, name)
        if not text.strip():
            raise Invalid(name, "required")
        return text

    def schema(self) -> Schema:
        return {**super().schema(), "minLength": 1, "pattern": trimmed_pattern(1)}


class PositiveAmount(AtomicAmount):
    """Atomic units, at least one."""

    described = POSITIVE_DIGITS

    def check(self, value: Any, name: str) -> str:
        text = super().check(value, name)
        if not text.strip("0"):
            raise Invalid(name, "positive")
        return text


class PayTo(Text):
    """An address; a key that was pasted by mistake isn't kept."""

    def check(self, value: Any, name: str) -> str:
        text: str = super().check(value, name)
        if may_be_secret(text):
            raise Invalid(name, "secret")
        return text


class KeptRequirements(Field):
    """An object, kept as it came for audit."""

    def check(self, value: Any, name: str) -> FreeForm:
        if not isinstance(value, dict):
            raise Invalid(name, "object")
        check_free(value, name)
        return value

    def schema(self) -> Schema:
        return {"type": "object", "additionalProperties": True}


AssetId = Annotated[str, by(Text(20, described=NOT_EMPTY))]
Ref = Annotated[str, by(MandateReference(255))]
Named = Annotated[str, by(Text(255))]
Cap = Annotated[str, by(PositiveAmount())]


class MandateBody(Request, frozen=True, kw_only=True):
    """POST /agentic/mandates."""

    mandate_ref: Ref
    asset_id: AssetId
    scope: Named | None = None
    total_cap_atomic: Cap
    per_call_cap_atomic: Cap | None = None
    expires_in_seconds: Annotated[int, by(Integer(EXPIRES_IN_MIN, EXPIRES_IN_MAX))] = (
        EXPIRES_IN_DEFAULT
    )

    def request(self) -> MandateRequest:
        per_call = self.per_call_cap_atomic
        return MandateRequest(
            mandate_ref=self.mandate_ref,
            asset_id=self.asset_id,
            total_cap_atomic=int(self.total_cap_atomic),
            per_call_cap_atomic=None if per_call is None else int(per_call),
            scope=self.scope or DEFAULT_SCOPE,
            expires_in_seconds=self.expires_in_seconds,
        )


class SettlementBody(Request, frozen=True, kw_only=True):
    """POST /agentic/x402/settlements."""

    amount_atomic: Annotated[str, by(AtomicAmount())]
    asset_id: AssetId
    mandate_ref: Ref
    pay_to: Annotated[str, by(PayTo(255))] | None = None
    nonce: Named | None = None
    payer: Named | None = None
    requirements: Annotated[FreeForm, by(KeptRequirements())] | None = None

    def request(self) -> SettlementRequest:
        """An empty recipient is none, and an empty nonce isn't one."""
        return SettlementRequest(
            asset_id=self.asset_id,
            amount_atomic=int(self.amount_atomic),
            mandate_ref=self.mandate_ref,
            nonce=self.nonce or None,
            pay_to=self.pay_to or None,
            payer=self.payer,
            requirements=self.requirements,
        )
