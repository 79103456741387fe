"""Bodies that BTCPay Server's callers send, and the requests that they become here."""

import json
import uuid
from decimal import Decimal, InvalidOperation
from typing import Annotated, Any

from apps.core.messages.fields import (
    Boolean,
    FiatAmount,
    Field,
    Integer,
    Invalid,
    List,
    Schema,
    Text,
    check_free,
)
from apps.core.messages.requests import Request, by
from apps.payments.requests import EXPIRES_IN_DEFAULT, PaymentRequest, payment_request
from apps.webhooks.formats import BTCPAY_EVENTS, kept_metadata
from apps.webhooks.requests import HttpUrl

METADATA_BYTES_MAX = 15 * 1024
_FIAT = FiatAmount()
_EVENTS_MAX = 20


class Amount(Field):
    """An amount of money: text or a JSON number, as BTCPay takes both; further zeros are dropped.
    It is read as text of at most two places."""

    def check(self, value: Any, name: str) -> str:
        if isinstance(value, bool) or not isinstance(value, (str, int, float)):
            raise Invalid(name, "decimal_cents")
        text = value.strip() if isinstance(value, str) else repr(value)
        try:
            number = Decimal(text) if len(text) <= 40 else Decimal("NaN")
        except InvalidOperation:
            raise Invalid(name, "decimal_cents") from None
        if not number.is_finite() or number.adjusted() > 12:
            raise Invalid(name, "decimal_cents")
        cents = number.quantize(Decimal("0.01"))
        if cents != number:
            raise Invalid(name, "decimal_cents")
        return _FIAT.check(str(cents), name)

    def schema(self) -> Schema:
        return {"type": "string", "format": "decimal"}


class Number(Field):
    """A decimal number, as text or as JSON has it. It is read as text."""

    def check(self, value: Any, name: str) -> str:
        if isinstance(value, bool) or not isinstance(value, (str, int, float)):
            raise Invalid(name, "decimal")
        return value.strip() if isinstance(value, str) else format(Decimal(repr(value)), "f")


class AnyObject(Field):
    """An object of any form."""

    def check(self, value: Any, name: str) -> Schema:
        if not isinstance(value, dict):
            raise Invalid(name, "object")
        check_free(value, name)
        if len(json.dumps(value, ensure_ascii=False).encode()) > METADATA_BYTES_MAX:
            raise Invalid(name, "too_large", maximum=METADATA_BYTES_MAX)
        return value


class Name(Text):
    """One of BTCPay's names, in any case."""

    def __init__(self, *names: str) -> None:
        super().__init__(40)
        self.names = {name.lower(): name for name in names}

    def check(self, value: Any, name: str) -> str:
        found = self.names.get(value.lower()) if isinstance(value, str) else None
        if found is None:
            raise Invalid(name, "choice", choices=", ".join(self.names.values()))
        return found


class CheckoutOptions(Request, frozen=True, kw_only=True):
    """Options of a checkout that this service can follow; the rest is left to the store's
    settings."""

    expirationMinutes: Annotated[int, by(Integer(5, 1440))] | None = None
    redirectURL: Annotated[str, by(HttpUrl(may_be_empty=True))] | None = None


class InvoiceRequest(Request, frozen=True, kw_only=True):
    """POST invoices. Without a currency it is the store's; without an amount BTCPay would make a
    top-up invoice, which is refused."""

    amount: Annotated[str, by(Amount())]
    currency: Annotated[str, by(Text(10))] | None = None
    metadata: Annotated[Schema, by(AnyObject())] = {}
    checkout: CheckoutOptions | None = None

    def payment(self, mode: str, currency: str) -> PaymentRequest:
        """The payment that it is. Raises Invalid with the name of our field."""
        checkout = self.checkout or CheckoutOptions()
        lifetime = checkout.expirationMinutes
        fields: dict[str, object] = {
            "amount": self.amount,
            "currency": self.currency or currency,
            "order_id": _text(self.metadata.get("orderId")),
            "title": _text(self.metadata.get("itemDesc")),
            "success_url": checkout.redirectURL or None,
            "expires_in": EXPIRES_IN_DEFAULT if lifetime is None else lifetime * 60,
            "metadata": kept_metadata(self.metadata),
        }
        if isinstance(fields["title"], str):
            fields["title"] = fields["title"][:150]
        return payment_request(mode).read(fields)


def _text(value: object) -> str | None:
    """Shops send numbers for names of orders."""
    if isinstance(value, bool) or not isinstance(value, (str, int)):
        return None
    return str(value) or None


class StatusRequest(Request, frozen=True, kw_only=True):
    status: Annotated[str, by(Name("Invalid", "Settled"))]


class RefundOrder(Request, frozen=True, kw_only=True):
    """POST refund. `CurrentRate` and `OverpaidAmount` are amounts that this service doesn't
    compute."""

    name: Annotated[str, by(Text(255))] | None = None
    description: Annotated[str, by(Text(1000))] | None = None
    payoutMethodId: Annotated[str, by(Text(40))] | None = None
    paymentMethod: Annotated[str, by(Text(40))] | None = None
    refundVariant: Annotated[
        str, by(Name("RateThen", "CurrentRate", "OverpaidAmount", "Fiat", "Custom"))
    ] = "RateThen"
    subtractPercentage: Annotated[str, by(Amount())] | None = None
    customAmount: Annotated[str, by(Number())] | None = None
    customCurrency: Annotated[str, by(Text(20))] | None = None


class AuthorizedEvents(Request, frozen=True, kw_only=True):
    everything: Annotated[bool, by(Boolean())] = True
    specificEvents: Annotated[
        list[Annotated[str, by(Name(*BTCPAY_EVENTS))]], by(List(Field(), _EVENTS_MAX))
    ] = []

    @property
    def names(self) -> list[str]:
        return list(BTCPAY_EVENTS) if self.everything else self.specificEvents


class WebhookRequest(Request, frozen=True, kw_only=True):
    """POST and PUT webhooks. Redelivery is automatic here, whatever is said."""

    url: Annotated[str, by(HttpUrl())]
    enabled: Annotated[bool, by(Boolean())] = True
    automaticRedelivery: Annotated[bool, by(Boolean())] = True
    secret: Annotated[str, by(Text(255, shortest=16))] | None = None
    authorizedEvents: AuthorizedEvents | None = None


def new_key() -> str:
    """An idempotency key of a call that has brought none."""
    return f"compat-{uuid.uuid4()}"
