"""What is asked for with a payment intent: the same class for every door."""

from typing import Annotated

from apps.core.literal import FiatAmount, Integer, List, Metadata, Object, Text, Url
from apps.core.requests import Request, by

EXPIRES_IN_DEFAULT, EXPIRES_IN_MIN, EXPIRES_IN_MAX = 3600, 300, 86400
LINE_ITEMS_MAX = 50
Link = Annotated[str, by(Url())]


class LineItem(Request, frozen=True, kw_only=True):
    description: Annotated[str, by(Text(255))]
    quantity: Annotated[int, by(Integer(1))]
    unit_amount_cents: Annotated[int, by(Integer(0))]
    image_url: Link | None = None


class PaymentRequest(Request, frozen=True, kw_only=True):
    """An amount in a currency, and what the payer and the merchant see of it. Live mode sends nobody to plain http."""

    amount: Annotated[str, by(FiatAmount())]
    currency: Annotated[str, by(Text(10))]
    success_url: Annotated[str, by(Url(plain_http="localhost"))] | None = None
    failed_url: Annotated[str, by(Url(plain_http="localhost"))] | None = None
    order_id: Annotated[str, by(Text(255))] | None = None
    title: Annotated[str, by(Text(150))] | None = None
    description: Annotated[str, by(Text(500))] | None = None
    image_url: Link | None = None
    expires_in: Annotated[int, by(Integer(EXPIRES_IN_MIN, EXPIRES_IN_MAX))] = EXPIRES_IN_DEFAULT
    metadata: Annotated[dict[str, str], by(Metadata())] = {}
    line_items: Annotated[list[LineItem], by(List(Object({}), LINE_ITEMS_MAX))] = []
    customer_pays_fee: bool | None = None


class TestModePaymentRequest(PaymentRequest, frozen=True, kw_only=True):
    success_url: Annotated[str, by(Url(plain_http="any"))] | None = None
    failed_url: Annotated[str, by(Url(plain_http="any"))] | None = None


def payment_request(mode: str) -> type[PaymentRequest]:
    """The class that reads a body in this mode."""
    return PaymentRequest if mode == "live" else TestModePaymentRequest
