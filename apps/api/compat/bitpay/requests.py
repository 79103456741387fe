"""Bodies that BitPay's callers send, and the requests that they become here."""

from typing import Annotated, Any

from apps.access import pairing
from apps.api.compat.requests import Amount, AnyObject
from apps.core.messages.fields import Boolean, Field, Invalid, Schema, Text
from apps.core.messages.requests import Request, by
from apps.payments.requests import PaymentRequest, payment_request
from apps.webhooks.formats import kept_metadata
from apps.webhooks.notices import ENDPOINT
from apps.webhooks.requests import HttpUrl

_PRINTABLE_MAX = 100


class Label(Text):
    """A short text; shops send numbers, too."""

    def check(self, value: Any, name: str) -> str:
        is_number = isinstance(value, int) and not isinstance(value, bool)
        return super().check(str(value) if is_number else value, name)


class Guid(Text):
    """A name that a client gives to a call, as an idempotency key may be."""

    def check(self, value: Any, name: str) -> str:
        text = super().check(value, name)
        if not text.isascii() or not text.isprintable():
            raise Invalid(name, "string")
        return text


class ClientId(Field):
    """The id (SIN) of a client."""

    def check(self, value: Any, name: str) -> str:
        if not isinstance(value, str) or not pairing.is_client_id(value):
            raise Invalid(name, "clean_url")
        return value


class TokenRequest(Request, frozen=True, kw_only=True):
    """POST tokens: a client asks to be paired."""

    id: Annotated[str, by(ClientId())]
    label: Annotated[str, by(Text(255))] | None = None
    facade: Annotated[str, by(Text(20, choices=("merchant",)))] = "merchant"


Link = Annotated[str, by(HttpUrl(may_be_empty=True))]


class InvoiceRequest(Request, frozen=True, kw_only=True):
    """POST invoices. What this service decides itself (`transactionSpeed`, notifications by email,
    coins) is ignored."""

    price: Annotated[str, by(Amount())]
    currency: Annotated[str, by(Text(10))]
    orderId: Annotated[str, by(Label(255))] | None = None
    itemDesc: Annotated[str, by(Text(1000))] | None = None
    itemCode: Annotated[str, by(Label(255))] | None = None
    posData: Annotated[str, by(Text(4000))] | None = None
    guid: Annotated[str, by(Guid(_PRINTABLE_MAX))] | None = None
    notificationURL: Link | None = None
    redirectURL: Link | None = None
    closeURL: Link | None = None
    buyer: Annotated[Schema, by(AnyObject())] | None = None

    def payment(self, mode: str, endpoint_id: str) -> PaymentRequest:
        """The payment that it is; `endpoint_id`, if any, is where its notices go. Raises Invalid
        with the name of our field."""
        buyer = self.buyer or {}
        email = buyer.get("email")
        told = {
            "itemCode": self.itemCode,
            "posData": self.posData,
            "notificationURL": self.notificationURL,
            "buyer": buyer or None,
            "buyerEmail": email if isinstance(email, str) else None,
            ENDPOINT: endpoint_id,
        }
        fields: dict[str, object] = {
            "amount": self.price,
            "currency": self.currency,
            "order_id": self.orderId or None,
            "title": self.itemDesc[:150] if self.itemDesc else None,
            "success_url": self.redirectURL or None,
            "failed_url": self.closeURL or None,
            "metadata": kept_metadata({name: value for name, value in told.items() if value}),
        }
        return payment_request(mode).read(fields)


class RefundOrder(Request, frozen=True, kw_only=True):
    """POST refunds, and the older POST invoices/{id}/refunds, which names the invoice in its
    address. Without an amount it is all."""

    invoiceId: Annotated[str, by(Text(40))] | None = None
    amount: Annotated[str, by(Amount())] | None = None
    currency: Annotated[str, by(Text(10))] | None = None
    preview: Annotated[bool, by(Boolean())] = False
    reference: Annotated[str, by(Text(100))] | None = None
    guid: Annotated[str, by(Guid(_PRINTABLE_MAX))] | None = None
