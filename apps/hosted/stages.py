"""What the stages of a checkout say beside its document: how much has come, how soon time is up,
and what was paid with."""

from dataclasses import dataclass
from fractions import Fraction

from apps.payments import states
from apps.payments.documents.checkout import CheckoutAddress, CheckoutFacts
from apps.payments.models import Payment
from apps.payments.services.prices import WHOLE_UNIT_CURRENCIES

ENDING_SECONDS_MAX = 300
ENDING_SHARE = 5
_OVERPAID = (states.COMPLETED_OVERPAID, states.FAILED_OVERPAID)


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
    """What was seen, confirmed or not, each coin at its locked rate; what is left is never told too
    small."""
    total = document.settlement_amount_cents
    came = [
        (address, Fraction(int(address.received_atomic), int(address.crypto_amount_atomic)))
        for address in document.payment_addresses
    ]
    fraction = sum((part for _, part in came), Fraction(0))
    step = 100 if document.settlement_currency in WHOLE_UNIT_CURRENCIES else 1
    received = min(total, int(fraction * total) // step * step)
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


def ending_seconds(payment: Payment) -> int:
    """From how much time left on the customer is warned: five minutes, less where there never was
    much."""
    return min(ENDING_SECONDS_MAX, lifetime_seconds(payment) // ENDING_SHARE)


def lifetime_seconds(payment: Payment) -> int:
    """How long its price was held."""
    return int((payment.expires_at - payment.created_at).total_seconds())


def is_ending(payment: Payment, document: CheckoutFacts) -> bool:
    return not document.terminal and 0 < document.seconds_left <= ending_seconds(payment)
