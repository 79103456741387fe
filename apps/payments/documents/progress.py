"""How much of what is due has come: the one rounding that the checkout, the dashboard, the API,
emails and files share.

A coin is worth its amount at its locked rate, half-even to the cent (`amount_paid` of the API), and
half-even to the unit of a currency without cents. Received + left = due, and received - over = due:
until a payment completes something is left while coins are missing, and nothing once all have come.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction

from apps.assets.models import Asset
from apps.core import money
from apps.payments import states
from apps.payments.models import Payment
from apps.payments.selectors import Received
from apps.payments.units import step_of, to_units

_OVERPAID = (states.COMPLETED_OVERPAID, states.FAILED_OVERPAID)


@dataclass(frozen=True)
class OverpaidAmount:
    """Amount beyond the amount due, in the coin that it came in if there is only one."""

    cents: int
    asset: Asset | None
    atomic: int


@dataclass(frozen=True)
class Progress:
    """A bill in cents of its currency, the fee on top included. `over` is what the customer sent
    too much, where the payment was judged so."""

    total_cents: int
    received_cents: int
    over: OverpaidAmount | None = None

    @property
    def left_cents(self) -> int:
        return max(0, self.total_cents - self.received_cents)

    @property
    def over_cents(self) -> int:
        return max(0, self.received_cents - self.total_cents)


def worth(intake: Received, amount_atomic: int) -> int:
    """Cents at the address's locked rate, half-even."""
    return money.cents_for_atomic(
        amount_atomic, intake.address.exchange_rate, intake.address.asset.atomic_decimals
    )


def due_cents(payment: Payment, received: Sequence[Received]) -> int:
    """The price; with the fee on top, what the coins that are asked for are worth."""
    price = payment.settlement_amount_cents
    if not payment.customer_pays_fee or not received:
        return price
    asked = next((intake for intake in received if intake.received_atomic), received[0])
    return max(price, worth(asked, asked.address.required_atomic))


def _seen(intake: Received) -> int:
    return intake.of_price_atomic(intake.received_atomic)


def progress_of(
    payment: Payment, received: Sequence[Received], amount_of: Callable[[Received], int] = _seen
) -> Progress:
    """Progress by everything that was seen, confirmed or not, unless `amount_of` says otherwise.
    `received` has at least every address that got something."""
    currency = payment.settlement_currency
    total = to_units(due_cents(payment, received), currency)
    came = [(intake, amount) for intake in received if (amount := amount_of(intake))]
    whole = to_units(sum(worth(*coins) for coins in came), currency)
    fraction = sum(
        (Fraction(amount, intake.address.required_atomic) for intake, amount in came),
        Fraction(0),
    )
    if payment.completed_at is None:
        is_short = fraction < 1
        whole = max(0, min(whole, total - step_of(currency))) if is_short else max(whole, total)
    progress = Progress(total, whole)
    if payment.state_reason not in _OVERPAID or fraction <= 1:
        return progress
    over = OverpaidAmount(progress.over_cents, None, 0)
    if len(came) == 1:
        ((only, amount),) = came
        over = OverpaidAmount(over.cents, only.address.asset, amount - only.address.required_atomic)
    return Progress(total, progress.received_cents, over)


def coin_cents(
    payment: Payment, received: Sequence[Received], progress: Progress
) -> dict[str, int]:
    """Worth of each coin that came, by asset: together what `progress` has received. The coin worth
    most takes what rounding leaves."""
    came = [intake for intake in received if intake.received_atomic]
    cents = {
        intake.address.asset_id: to_units(
            worth(intake, intake.received_atomic), payment.settlement_currency
        )
        for intake in came
    }
    if cents:
        cents[max(cents, key=cents.__getitem__)] += progress.received_cents - sum(cents.values())
    return cents
