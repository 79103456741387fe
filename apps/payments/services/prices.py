"""What a payment may be priced at: the rules that need both amount and currency; and how much of a
price has come."""

from dataclasses import dataclass
from fractions import Fraction

from apps.core.errors import Failure
from apps.core.messages.fields import Invalid
from apps.core.money import CENTS, cents_from_text
from apps.payments import states
from apps.payments.documents.checkout import CheckoutAddress, CheckoutFacts
from apps.payments.requests import PaymentRequest
from apps.stores.models import Currency

AMOUNT_CENTS_MAX = 100_000_000 * CENTS
WHOLE_UNIT_CURRENCIES = frozenset({"JPY"})
_OVERPAID = (states.COMPLETED_OVERPAID, states.FAILED_OVERPAID)


class UnsupportedCurrency(Failure):
    """422, structured, code null."""

    field = "currency"

    def __init__(self, code: str) -> None:
        super().__init__(f"Unsupported settlement currency: {code}")


def amount_cents(request: PaymentRequest) -> int:
    """The price in cents of its currency. Raises Invalid or UnsupportedCurrency."""
    currency = request.currency
    cents = cents_from_text(request.amount)
    if currency not in Currency.values:
        raise UnsupportedCurrency(currency)
    if cents > AMOUNT_CENTS_MAX:
        raise Invalid("amount", "at_most", maximum="100000000.00")
    if currency in WHOLE_UNIT_CURRENCIES and cents % CENTS:
        raise Invalid("amount", "whole_unit", currency=currency)
    return cents


@dataclass(frozen=True)
class Over:
    """What came beyond the amount due, in the coin that it came in if there is only one."""

    cents: int
    address: CheckoutAddress | None
    atomic: int


@dataclass(frozen=True)
class Progress:
    """A bill in cents of its currency. `over` is what the customer sent too much."""

    total_cents: int
    received_cents: int
    over: Over | None

    @property
    def left_cents(self) -> int:
        return self.total_cents - self.received_cents


def progress_of(document: CheckoutFacts) -> Progress:
    """Sum what was seen, confirmed or not, each coin at its locked rate and rounded as the API
    rounds it; while something is missing, something is left."""
    total = document.settlement_amount_cents
    came = [
        (address, Fraction(int(address.received_atomic), int(address.crypto_amount_atomic)))
        for address in document.payment_addresses
    ]
    fraction = sum((part for _, part in came), Fraction(0))
    step = 100 if document.settlement_currency in WHOLE_UNIT_CURRENCIES else 1
    cents = sum(round(part * total) for _, part in came)
    most = total if fraction >= 1 else total - step
    received = max(0, min(most, cents // step * step))
    return Progress(
        total,
        received,
        _over(document, [address for address, part in came if part], fraction, step),
    )


def _over(
    document: CheckoutFacts, came: list[CheckoutAddress], fraction: Fraction, step: int
) -> Over | None:
    if document.state_reason not in _OVERPAID or fraction <= 1:
        return None
    cents = int((fraction - 1) * document.settlement_amount_cents) // step * step
    only = came[0] if len(came) == 1 else None
    atomic = int(only.received_atomic) - int(only.crypto_amount_atomic) if only else 0
    return Over(cents, only, atomic)
