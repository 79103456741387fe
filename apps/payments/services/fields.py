"""The fields of a payment intent, as a caller may send them. `check` adds the rules that need the mode or two fields."""

from typing import Any

from apps.core.errors import Coded
from apps.core.literal import Boolean, FiatAmount, Integer, Invalid, List, Metadata, Object, Pattern, Text, Url
from apps.core.money import CENTS, cents_from_text
from apps.stores.models import Currency

AMOUNT_CENTS_MAX = 100_000_000 * CENTS
EXPIRES_IN_DEFAULT, EXPIRES_IN_MIN, EXPIRES_IN_MAX = 3600, 300, 86400
WHOLE_UNIT_CURRENCIES = frozenset({"JPY"})

LINE_ITEM = Object(
    {
        "description": Text(255, required=True),
        "quantity": Integer(1, required=True),
        "unit_amount_cents": Integer(0, required=True),
        "image_url": Url(),
    }
)
REFUND = Object(
    {
        "amount": Pattern(r"[0-9]{1,40}(\.[0-9]{1,18})?", "decimal"),
        "asset_id": Text(20),
        "destination_address": Text(100),
    }
)
_REDIRECT = {"live": Url(plain_http="localhost"), "test": Url(plain_http="any")}


def payment_intent(mode: str) -> Object:
    """What POST /payments takes inside its wrapper."""
    return _SHAPES[mode]


_SHAPES = {
    mode: Object(
        {
            "amount": FiatAmount(required=True),
            "currency": Text(10, required=True),
            "success_url": redirect,
            "failed_url": redirect,
            "order_id": Text(255),
            "title": Text(150),
            "description": Text(500),
            "image_url": Url(),
            "expires_in": Integer(EXPIRES_IN_MIN, EXPIRES_IN_MAX, default=EXPIRES_IN_DEFAULT),
            "metadata": Metadata(),
            "line_items": List(LINE_ITEM, 50),
            "customer_pays_fee": Boolean(),
        }
    )
    for mode, redirect in _REDIRECT.items()
}


class UnsupportedCurrency(Coded):
    """422, structured, code null."""

    def __init__(self, code: str) -> None:
        super().__init__(f"Unsupported settlement currency: {code}")


def amount_cents(fields: dict[str, Any]) -> int:
    """The price in cents of its currency. Raises Invalid or UnsupportedCurrency."""
    currency, cents = fields["currency"], cents_from_text(fields["amount"])
    if currency not in Currency.values:
        raise UnsupportedCurrency(currency)
    if cents > AMOUNT_CENTS_MAX:
        raise Invalid("amount", "at_most", maximum="100000000.00")
    if currency in WHOLE_UNIT_CURRENCIES and cents % CENTS:
        raise Invalid("amount", "whole_unit", currency=currency)
    return cents
