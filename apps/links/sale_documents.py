"""State of a sale at the till: its lines, the VAT in them, and where customers see it."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

from apps.core.money import BASIS_POINTS, Bps
from apps.links.documents import pages_of
from apps.links.models import Sale
from apps.links.requests import smallest_cents
from apps.links.till_selectors import sale_of
from apps.payments.models import Payment

# How long a customer may think about the tip.
OPEN_FOR = timedelta(minutes=15)
WAITING_FOR_TIP = "tip"
CANCELED = "canceled"
ABANDONED = "abandoned"


@dataclass(frozen=True)
class VatPart:
    """VAT of a sale at one rate, in cents: the gross amount is the net one and the VAT."""

    vat_bps: int
    gross_cents: int
    vat_cents: int

    @property
    def net_cents(self) -> int:
        return self.gross_cents - self.vat_cents


@dataclass(frozen=True)
class TipChoice:
    """A tip that customers are offered."""

    cents: int
    share_bps: int


def tip_cents(amount_cents: int, share_bps: Bps, currency: str) -> int:
    """A share of an amount, rounded half up to the currency's smallest unit."""
    return _rounded(amount_cents * share_bps, BASIS_POINTS, currency)


def vat_cents(gross_cents: int, vat_bps: Bps, currency: str) -> int:
    """The VAT within an amount that includes it, rounded half up to the currency's smallest
    unit."""
    return _rounded(gross_cents * vat_bps, BASIS_POINTS + vat_bps, currency)


def _rounded(dividend: int, divisor: int, currency: str) -> int:
    step = smallest_cents(currency)
    return (2 * dividend + divisor * step) // (2 * divisor * step) * step


def vat_parts(lines: Iterable[Mapping[str, object]], currency: str) -> list[VatPart]:
    """Per rate, the highest first, rounded once for each. Lines without a rate aren't in it."""
    gross: dict[int, int] = defaultdict(int)
    for line in lines:
        if line["vat_bps"] is not None:
            gross[int(str(line["vat_bps"]))] += amount_of(line)
    return [
        VatPart(bps, cents, vat_cents(cents, Bps(bps), currency))
        for bps, cents in sorted(gross.items(), reverse=True)
    ]


def vat_of(payment: Payment) -> list[VatPart]:
    """Of what was sold, if the payment was asked for at the till."""
    sale = sale_of(payment)
    return vat_parts(sale.lines, sale.currency) if sale is not None else []


def amount_of(line: Mapping[str, object]) -> int:
    """Of a stored line, in cents."""
    return int(str(line["quantity"])) * int(str(line["unit_amount_cents"]))


def total_cents(sale: Sale) -> int:
    """With the tip, as far as it is known."""
    return sale.amount_cents + (sale.tip_cents or 0)


def tip_choices(sale: Sale) -> list[TipChoice]:
    """Of those that the store offers, the ones that come to something."""
    choices = [
        TipChoice(tip_cents(sale.amount_cents, Bps(bps), sale.currency), bps)
        for bps in sale.offered_bps
    ]
    return [choice for choice in choices if choice.cents]


def state_of_sale(sale: Sale, now: datetime) -> str:
    """WAITING_FOR_TIP, CANCELED or ABANDONED; else the status of its payment."""
    if sale.canceled_at is not None:
        return CANCELED
    if sale.payment is not None:
        return sale.payment.status
    return WAITING_FOR_TIP if is_open(sale, now) else ABANDONED


def is_open(sale: Sale, now: datetime) -> bool:
    """Tells whether its customer can still be asked for a tip."""
    return sale.canceled_at is None and sale.payment_id is None and now < sale.created_at + OPEN_FOR


def sale_url(sale: Sale) -> str:
    """The customer's page of a sale: at the store's own domain once that is verified."""
    return f"{pages_of(sale.store)}/{sale.token}/sale"


def display_url(sale: Sale) -> str:
    """Address of a second screen for the customer."""
    return f"{pages_of(sale.store)}/{sale.token}/display"
