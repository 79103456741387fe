"""Requests about payment intents: the same class for every interface."""

from typing import Annotated, ClassVar, Self
from uuid import uuid4

from msgspec import field

from apps.core.messages.fields import (
    CURRENCY,
    MAX_INTEGER,
    NOT_EMPTY,
    AtomicAmount,
    FiatAmount,
    Field,
    Integer,
    Invalid,
    List,
    Metadata,
    Pattern,
    Schema,
    Text,
    Url,
    at_most_one_of,
    check_storable,
)
from apps.core.messages.requests import Request, by

EXPIRES_IN_DEFAULT = 3600
EXPIRES_IN_MIN = 300
EXPIRES_IN_MAX = 86400
LINE_ITEMS_MAX = 50
SCENARIOS = ("exact", "underpaid", "overpaid", "unconfirmed", "failed")
REFERENCE_MAX = 255
Link = Annotated[str, by(Url())]
Coins = Annotated[str, by(Pattern(r"[0-9]{1,40}(\.[0-9]{1,18})?", "decimal"))]


class LineItem(Request, frozen=True, kw_only=True):
    description: Annotated[str, by(Text(255))]
    quantity: Annotated[int, by(Integer(1))]
    unit_amount_cents: Annotated[int, by(Integer(0))]
    image_url: Link | None = None


class PaymentRequest(Request, frozen=True, kw_only=True):
    """An amount in a currency, and what the payer and the merchant see of it. Live mode sends
    nobody to plain http."""

    amount: Annotated[str, by(FiatAmount())]
    currency: Annotated[str, by(Text(10, described=CURRENCY))]
    success_url: Annotated[str, by(Url(plain_http="localhost"))] | None = None
    failed_url: Annotated[str, by(Url(plain_http="localhost"))] | None = None
    order_id: Annotated[str, by(Text(255))] | None = None
    title: Annotated[str, by(Text(150))] | None = None
    description: Annotated[str, by(Text(500))] | None = None
    image_url: Link | None = None
    expires_in: Annotated[int, by(Integer(EXPIRES_IN_MIN, EXPIRES_IN_MAX))] = EXPIRES_IN_DEFAULT
    metadata: Annotated[dict[str, str], by(Metadata())] = {}
    line_items: Annotated[list[LineItem], by(List(Field(), LINE_ITEMS_MAX))] = []
    customer_pays_fee: bool | None = None
    # Of a publishable key (services.origin).
    amount_signature: Annotated[str, by(Text(64))] | None = None


class ExtensionRequest(Request, frozen=True, kw_only=True):
    """For how many seconds from now a payment is to be open."""

    expires_in: Annotated[int, by(Integer(EXPIRES_IN_MIN, EXPIRES_IN_MAX))] = EXPIRES_IN_DEFAULT


class AcceptTransactionRequest(Request, frozen=True, kw_only=True):
    """Which transaction is taken: one of the payment's that is `undecided`."""

    tx_hash: Annotated[str, by(Text(66, shortest=66))]


class TestModePaymentRequest(PaymentRequest, frozen=True, kw_only=True):
    success_url: Annotated[str, by(Url(plain_http="any"))] | None = None
    failed_url: Annotated[str, by(Url(plain_http="any"))] | None = None


def payment_request(mode: str) -> type[PaymentRequest]:
    """The class that reads a body in this mode."""
    return PaymentRequest if mode == "live" else TestModePaymentRequest


class RefundRequest(Request, frozen=True, kw_only=True):
    """Nothing named means everything, back to where it came from. `amount` is in the coin,
    `settlement_amount` in the payment's currency, at the rate that was locked for it."""

    described: ClassVar[Schema] = {"not": {"required": ["amount", "settlement_amount"]}}

    amount: Coins | None = None
    settlement_amount: Annotated[str, by(FiatAmount())] | None = None
    asset_id: Annotated[str, by(Text(20, described=NOT_EMPTY))] | None = None
    destination_address: Annotated[str, by(Text(255))] | None = None

    @classmethod
    def read(cls, value: object, name: str = "body") -> Self:
        """Two amounts are one too many, whatever they are."""
        amounts = ("amount", "settlement_amount")
        if isinstance(value, dict) and all(value.get(amount) is not None for amount in amounts):
            raise Invalid("settlement_amount", "one_refund_amount")
        return super().read(value, name)

    @property
    def names_amount(self) -> bool:
        return self.amount is not None or self.settlement_amount is not None


class Scenario(Text):
    def __init__(self) -> None:
        super().__init__(20, choices=SCENARIOS)

    def schema(self) -> Schema:
        return {**super().schema(), "default": SCENARIOS[0]}


class DepositReference(Text):
    """The name of a simulated deposit."""

    def check(self, value: object, name: str) -> str:
        if not isinstance(value, str) or not 0 < len(value) <= self.longest:
            raise Invalid(name, "reference")
        check_storable(value, name)
        return value

    def schema(self) -> Schema:
        return {**super().schema(), "minLength": 1}


class SimulationRequest(Request, frozen=True, kw_only=True):
    """A deposit without a chain: of what a scenario sends, or of one of the three amounts; under a
    reference, else a random one."""

    described: ClassVar[Schema] = at_most_one_of("settlement_amount", "amount", "amount_atomic")

    scenario: Annotated[str, by(Scenario())] = SCENARIOS[0]
    confirmations: Annotated[int, by(Integer(-MAX_INTEGER))] = 0
    late: bool = False
    asset_id: Annotated[str, by(Text(20, described=NOT_EMPTY))] | None = None
    reference: Annotated[str, by(DepositReference(REFERENCE_MAX))] = field(
        default_factory=lambda: uuid4().hex
    )
    settlement_amount: Annotated[str, by(FiatAmount())] | None = None
    amount: Coins | None = None
    amount_atomic: Annotated[str, by(AtomicAmount())] | None = None

    @classmethod
    def read(cls, value: object, name: str = "body") -> Self:
        """Two amounts are one too many, whatever they are."""
        amounts = ("settlement_amount", "amount", "amount_atomic")
        if isinstance(value, dict) and sum(value.get(amount) is not None for amount in amounts) > 1:
            raise Invalid("amounts", "ambiguous_amount")
        return super().read(value, name)


class WalletPaymentRequest(Request, frozen=True, kw_only=True):
    """Amount that the test wallet is to pay; nothing named means all that the intent asks for."""

    amount_atomic: Annotated[str, by(AtomicAmount())] | None = None
