"""Prices that a payment may have: the rules that need both amount and currency."""

from apps.core.errors import Failure
from apps.core.messages.fields import Invalid
from apps.core.money import CENTS, cents_from_text
from apps.core.text.wording import Worded
from apps.payments.requests import PaymentRequest
from apps.payments.units import WHOLE_UNIT_CURRENCIES
from apps.stores.models import Currency

AMOUNT_CENTS_MAX = 100_000_000 * CENTS
_CURRENCIES = frozenset(Currency.values)  # of which the class draws up a list each time


class UnsupportedCurrency(Failure):
    """422, structured, code null."""

    field = "currency"

    def __init__(self, code: str) -> None:
        super().__init__(Worded("Unsupported settlement currency: {code}", code=code))


def amount_cents(request: PaymentRequest) -> int:
    """The price in cents of its currency. Raises Invalid or UnsupportedCurrency."""
    currency = request.currency
    cents = cents_from_text(request.amount)
    if currency not in _CURRENCIES:
        raise UnsupportedCurrency(currency)
    if cents > AMOUNT_CENTS_MAX:
        raise Invalid("amount", "at_most", maximum="100000000.00")
    if currency in WHOLE_UNIT_CURRENCIES and cents % CENTS:
        raise Invalid("amount", "whole_unit", currency=currency)
    return cents
