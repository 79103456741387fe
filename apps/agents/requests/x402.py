"""Requests of x402: an offer, which is ours, and a signed payment, whose names and shapes are the
protocol's (version 2).

A `Foreign` object comes from a payer whom nobody has asked to be careful. Whatever isn't of its
documented type is null, and is refused by the protocol's own name at the place that needs it, in
the protocol's order.
"""

from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Self, cast, get_args

import msgspec
from msgspec import Meta, Struct, ValidationError, field
from msgspec.structs import fields

from apps.agents.requests.mandates import PositiveAmount
from apps.core.messages.documents import schema_of
from apps.core.messages.fields import (
    CURRENCY,
    NOT_EMPTY,
    FiatAmount,
    Field,
    Integer,
    Invalid,
    List,
    Metadata,
    Schema,
    Text,
    one_of,
)
from apps.core.messages.requests import Request, by
from apps.payments.requests import EXPIRES_IN_DEFAULT, EXPIRES_IN_MAX, EXPIRES_IN_MIN

VERSION = 2
SCHEME = "exact"
METHOD = "eip3009"
PERMIT = "permit2"  # at the checkout alone
TIMEOUT_DEFAULT = 120
TIMEOUT_MIN = 30
TIMEOUT_MAX = 3600
ASSETS_MAX = 10


AssetId = Annotated[str, by(Text(20, described=NOT_EMPTY))]


class OfferTerms(Request, frozen=True, kw_only=True):
    """A resource and its price in money, and what its payment holds."""

    resource: Annotated[str, by(Text(2048, shortest=1))]
    amount: Annotated[str, by(FiatAmount())] | None = None
    currency: Annotated[str, by(Text(10, described=CURRENCY))] | None = None
    description: Annotated[str, by(Text(500))] | None = None
    mime_type: Annotated[str, by(Text(100))] | None = None
    max_timeout_seconds: Annotated[int, by(Integer(TIMEOUT_MIN, TIMEOUT_MAX))] = TIMEOUT_DEFAULT
    expires_in: Annotated[int, by(Integer(EXPIRES_IN_MIN, EXPIRES_IN_MAX))] = EXPIRES_IN_DEFAULT
    order_id: Annotated[str, by(Text(255))] | None = None
    metadata: Annotated[dict[str, str], by(Metadata())] = {}


class OfferRequest(OfferTerms, frozen=True, kw_only=True):
    """A price in one asset: an amount of a currency, or atomic units of the asset, which are
    exact."""

    described: ClassVar[Schema] = {
        **one_of("amount", "amount_atomic"),
        "dependentRequired": {"amount": ["currency"]},
    }

    asset_id: AssetId
    amount_atomic: Annotated[str, by(PositiveAmount())] | None = None

    @classmethod
    def read(cls, value: object, name: str = "body") -> Self:
        offer = super().read(value, name)
        if (offer.amount is None) == (offer.amount_atomic is None):
            raise Invalid("amount", "one_amount")
        if offer.amount is not None and offer.currency is None:
            raise Invalid("currency", "required")
        return offer

    @property
    def exact_atomic(self) -> int | None:
        """The price in atomic units; None when it is in money."""
        return None if self.amount_atomic is None else int(self.amount_atomic)


class PriceRequest(OfferTerms, frozen=True, kw_only=True):
    """A price in several assets, of which the payer chooses one: those that are named, or all that
    the store takes over x402."""

    amount: Annotated[str, by(FiatAmount())]
    currency: Annotated[str, by(Text(10, described=CURRENCY))]
    asset_ids: Annotated[list[AssetId], by(List(Field(), ASSETS_MAX))] | None = None


# --- what payers send -----------------------------------------------------------------------------


class Foreign(Struct, frozen=True, kw_only=True, rename="camel"):
    """An object of the protocol, as its sender wrote it."""

    @classmethod
    def read(cls, value: Mapping[str, object]) -> Self:
        """Never refuses. Keys that aren't ours to know are left out."""
        try:
            return msgspec.convert(value, cls)
        except ValidationError:
            return cls(**_readable(cls, value))

    @classmethod
    def schema(cls) -> Schema:
        """As the protocol documents it: what may be null to us is nothing that a payer may send."""
        return _without_null(schema_of(cls))


class Extra(Foreign, frozen=True, kw_only=True):
    """`offer` is the seal of what was asked for, and `resource` what is sold."""

    asset_transfer_method: str | None = METHOD
    offer: str | None = None
    resource: str | None = None


class PaymentRequirements(Foreign, frozen=True, kw_only=True):
    """Terms that a payer must sign, or has chosen to sign."""

    scheme: str | None
    network: str | None
    amount: str | None
    asset: str | None
    pay_to: str | None
    extra: Extra | None = None


class TransferAuthorization(Foreign, frozen=True, kw_only=True):
    """EIP-3009, as text: addresses and the nonce in hex, numbers in digits."""

    payer: str | None = field(name="from")
    to: str | None
    value: str | None
    valid_after: str | None
    valid_before: str | None
    nonce: str | None


class ExactPayload(Foreign, frozen=True, kw_only=True):
    """Payload of the scheme `exact` on a chain of Ethereum's kind."""

    signature: str | None
    authorization: TransferAuthorization | None


class PermittedCoins(Foreign, frozen=True, kw_only=True):
    token: str | None
    amount: str | None


class Witness(Foreign, frozen=True, kw_only=True):
    to: str | None
    valid_after: str | None


class PermitAuthorization(Foreign, frozen=True, kw_only=True):
    """Message that is signed for Permit2, as text; the nonce in digits."""

    payer: str | None = field(name="from")
    permitted: PermittedCoins | None
    spender: str | None
    nonce: str | None
    deadline: str | None
    witness: Witness | None


Version = Annotated[int, Meta(extra_json_schema={"enum": [VERSION]})]


class PaymentPayload(Foreign, frozen=True, kw_only=True):
    x402_version: Version | None
    accepted: PaymentRequirements | None
    payload: ExactPayload | None


class SignedPaymentRequest(Foreign, frozen=True, kw_only=True):
    """The body of verify and settle."""

    x402_version: Version | None = VERSION
    payment_payload: PaymentPayload | None
    payment_requirements: PaymentRequirements | None

    @property
    def network(self) -> str:
        """The network that the requirements name; empty when they name none."""
        return (self.payment_requirements and self.payment_requirements.network) or ""


class CheckoutPayload(ExactPayload, frozen=True, kw_only=True):
    """One of an authorization and a permit."""

    authorization: TransferAuthorization | None = None
    permit: PermitAuthorization | None = field(name="permit2Authorization", default=None)


class CheckoutPaymentPayload(PaymentPayload, frozen=True, kw_only=True):
    payload: CheckoutPayload | None


class CheckoutPaymentRequest(SignedPaymentRequest, frozen=True, kw_only=True):
    """Signed payment that the page hands in, which may be a permit."""

    payment_payload: CheckoutPaymentPayload | None

    @property
    def seals(self) -> list[str]:
        """Seals that the page was given with the terms."""
        extra = self.payment_requirements and self.payment_requirements.extra
        return [extra.offer] if extra and extra.offer else []


def _readable(cls: type[Foreign], value: Mapping[str, object]) -> dict[str, object]:
    """Field by field; what can't be read is null."""
    values: dict[str, object] = {}
    for declared in fields(cls):
        if declared.encode_name in value:
            values[declared.name] = _typed(value[declared.encode_name], declared.type)
        elif declared.required:
            values[declared.name] = None
    return values


def _typed(value: object, kind: Any) -> object:
    for inner in get_args(kind):
        if isinstance(inner, type) and issubclass(inner, Foreign):
            return inner.read(value) if isinstance(value, dict) else None
    try:
        return cast(object, msgspec.convert(value, kind))
    except ValidationError:
        return None


def _without_null(schema: Schema) -> Schema:
    properties = {}
    for name, property_ in schema["properties"].items():
        kind = (
            next((option for option in property_["anyOf"] if option != {"type": "null"}), property_)
            if "anyOf" in property_
            else property_
        )
        properties[name] = _without_null(kind) if "properties" in kind else kind
    return {**schema, "properties": properties, "additionalProperties": True}
