"""The totals of an invoice: subtotal, minus discount, plus tax on what is left. Percentages round
half up, yen to whole yen."""

from collections.abc import Sequence
from dataclasses import dataclass

from apps.billing.models import Invoice
from apps.billing.requests import AMOUNT_CENTS_MAX
from apps.core.messages.fields import Invalid
from apps.core.money import BASIS_POINTS, CENTS, text_from_cents
from apps.payments.services.prices import WHOLE_UNIT_CURRENCIES


@dataclass(frozen=True)
class Totals:
    subtotal_cents: int
    discount_cents: int
    tax_cents: int

    @property
    def total_cents(self) -> int:
        return self.subtotal_cents - self.discount_cents + self.tax_cents

    def columns(self) -> dict[str, int]:
        return {
            "subtotal_cents": self.subtotal_cents,
            "discount_cents": self.discount_cents,
            "tax_cents": self.tax_cents,
            "total_cents": self.total_cents,
        }


def smallest_cents(currency: str) -> int:
    """The smallest amount that a currency has."""
    return CENTS if currency in WHOLE_UNIT_CURRENCIES else 1


def check_unit_amount(
    unit_amount_cents: int, currency: str, name: str = "unit_amount_cents"
) -> None:
    """Raises Invalid."""
    if unit_amount_cents % smallest_cents(currency):
        raise Invalid(name, "multiple", step=CENTS, currency=currency)


def totals_of(
    lines: Sequence[tuple[int, int]],
    currency: str,
    discount_type: str | None,
    discount_value: int | None,
    tax_rate_bps: int | None,
) -> Totals:
    """The totals of lines of (quantity, unit amount in cents). Raises Invalid when they are too
    large."""
    subtotal = sum(quantity * unit for quantity, unit in lines)
    step = smallest_cents(currency)
    discount = min(subtotal, _discount(subtotal, discount_type, discount_value or 0, step))
    tax = _half_up((subtotal - discount) * (tax_rate_bps or 0), BASIS_POINTS, step)
    totals = Totals(subtotal, discount, tax)
    if max(subtotal, totals.total_cents) > AMOUNT_CENTS_MAX:
        raise Invalid("total", "at_most", maximum=text_from_cents(AMOUNT_CENTS_MAX))
    return totals


def _discount(subtotal: int, kind: str | None, value: int, step: int) -> int:
    if kind == Invoice.DiscountType.PERCENT:
        return _half_up(subtotal * value, 100, step)
    return _half_up(value, 1, step) if kind == Invoice.DiscountType.AMOUNT else 0


def _half_up(numerator: int, denominator: int, step: int) -> int:
    """numerator / denominator, rounded half up to a multiple of `step`."""
    return (2 * numerator + denominator * step) // (2 * denominator * step) * step


def check_discount(kind: str | None, value: int | None) -> None:
    """A kind and a value belong together. Raises Invalid."""
    if kind is not None and value is None:
        raise Invalid("discount_value", "required_with", other="discount_type")
    if kind is None and value is not None:
        raise Invalid("discount_type", "required_with", other="discount_value")
    if kind == Invoice.DiscountType.PERCENT and (value or 0) > 100:
        raise Invalid("discount_value", "percent")
