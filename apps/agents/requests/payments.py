"""Requests of agents about payments and payouts, and about the coins that customers may pay
with."""

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, ClassVar, Self

from msgspec import UNSET, UnsetType, structs

from apps.core.messages.fields import (
    CURRENCY,
    NOT_EMPTY,
    POSITIVE_DIGITS,
    POSITIVE_FIAT,
    AtomicAmount,
    Boolean,
    Integer,
    Invalid,
    Metadata,
    Pattern,
    Schema,
    Text,
    Url,
)
from apps.core.messages.requests import Request, by
from apps.core.money import cents_from_text, text_from_cents
from apps.payments.requests import (
    EXPIRES_IN_DEFAULT,
    EXPIRES_IN_MAX,
    EXPIRES_IN_MIN,
    Coins,
    PaymentRequest,
)
from apps.payments.services.prices import AMOUNT_CENTS_MAX
from apps.payouts.requests import PayoutRequest, RawAddress

SAVED = ("crypto_payout_detail_id", "fiat_payout_detail_id")


class AgentAmount(Pattern):
    """Major units as text, at most two places, at most what an intent may cost."""

    described = POSITIVE_FIAT

    def __init__(self) -> None:
        super().__init__(r"[0-9]{1,40}(\.[0-9]{1,2})?", "decimal_cents")

    def check(self, value: Any, name: str) -> str:
        text = super().check(value, name)
        if not text.strip("0."):
            raise Invalid(name, "positive")
        if cents_from_text(text) > AMOUNT_CENTS_MAX:
            raise Invalid(name, "at_most", maximum=text_from_cents(AMOUNT_CENTS_MAX))
        return text


class AgentPayment(Request, frozen=True, kw_only=True):
    """An intent with fewer fields than a merchant's. Live mode sends nobody to plain http."""

    amount: Annotated[str, by(AgentAmount())]
    currency: Annotated[str, by(Text(10, shortest=1, described=CURRENCY))]
    success_url: Annotated[str, by(Url(plain_http="localhost"))] | None = None
    failed_url: Annotated[str, by(Url(plain_http="localhost"))] | None = None
    order_id: Annotated[str, by(Text(255))] | None = None
    expires_in: Annotated[int, by(Integer(EXPIRES_IN_MIN, EXPIRES_IN_MAX))] = EXPIRES_IN_DEFAULT
    metadata: Annotated[dict[str, str], by(Metadata())] = {}

    def request(self) -> PaymentRequest:
        """The request as for any intent."""
        return PaymentRequest(
            amount=self.amount,
            currency=self.currency,
            success_url=self.success_url,
            failed_url=self.failed_url,
            order_id=self.order_id,
            expires_in=self.expires_in,
            metadata=self.metadata,
        )


class TestModeAgentPayment(AgentPayment, frozen=True, kw_only=True):
    success_url: Annotated[str, by(Url(plain_http="any"))] | None = None
    failed_url: Annotated[str, by(Url(plain_http="any"))] | None = None


def agent_payment(mode: str) -> type[AgentPayment]:
    """The class that reads a body in this mode."""
    return AgentPayment if mode == "live" else TestModeAgentPayment


class AgentRefund(Request, frozen=True, kw_only=True):
    """Nothing named means everything, back to the paying addresses: a `destination_address` changes
    nothing."""

    also_read: ClassVar[Sequence[str]] = ("destination_address",)

    amount: Coins | None = None
    asset_id: Annotated[str, by(Text(20, described=NOT_EMPTY))] | None = None


class PositiveInteger(AtomicAmount):
    """A string of digits or, as a courtesy to machines, a JSON integer. Whatever is wrong about it
    is stated in one sentence."""

    described = POSITIVE_DIGITS

    def read(self, source: Mapping[str, Any], name: str) -> str:
        return self.check(source.get(name), name)

    def check(self, value: Any, name: str) -> str:
        text = str(value) if isinstance(value, int) and not isinstance(value, bool) else value
        if not isinstance(text, str) or not self.pattern.fullmatch(text) or not text.strip("0"):
            raise Invalid(name, "positive_integer")
        return text


class Recipient(Text):
    """An address; an empty one is missing."""

    def check(self, value: Any, name: str) -> str:
        if not (text := super().check(value, name)):
            raise Invalid(name, "required")
        return text

    def schema(self) -> Schema:
        return {**super().schema(), "minLength": 1}


class AgentPayout(Request, frozen=True, kw_only=True):
    """Coins to an address that is named in full."""

    also_read: ClassVar[Sequence[str]] = SAVED

    asset_id: Annotated[str, by(Text(20, described=NOT_EMPTY))]
    amount_atomic: Annotated[str, by(PositiveInteger())]
    destination_address: Annotated[str, by(Recipient(255))]

    @classmethod
    def read(cls, value: object, name: str = "body") -> Self:
        """A saved destination comes without an address: an agent has none saved."""
        if isinstance(value, dict) and any(value.get(name) is not None for name in SAVED):
            value = {**value, "destination_address": None}
        return super().read(value, name)

    def request(self) -> PayoutRequest:
        return PayoutRequest(
            self.asset_id, int(self.amount_atomic), RawAddress(self.destination_address)
        )


LowestPriceText = Annotated[str, by(Pattern(r"[01](\.[0-9]{1,4})?", "decimal"))]


class Switch(Boolean):
    """True or false, and said: missing is neither."""

    def read(self, source: Mapping[str, Any], name: str) -> bool:
        return self.check(source.get(name), name)


class TokenChange(Request, frozen=True, kw_only=True):
    """Choice of an asset that customers may pay with. Without a `lowest_price` it stays as it is;
    null removes it."""

    active: Annotated[bool, by(Switch())]
    lowest_price: LowestPriceText | UnsetType | None = UNSET

    @classmethod
    def read(cls, value: object, name: str = "body") -> Self:
        change = super().read(value, name)
        is_removed = isinstance(value, dict) and value.get("lowest_price", UNSET) is None
        return structs.replace(change, lowest_price=None) if is_removed else change
