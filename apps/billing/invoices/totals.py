"""Checks of what totals are made of. The figures themselves are counted in
`apps.billing.taxes.counting`."""

from apps.billing.models import Invoice
from apps.billing.taxes.counting import smallest_cents
from apps.core.messages.fields import Invalid
from apps.core.money import CENTS


def check_unit_amount(
    unit_amount_cents: int, currency: str, name: str = "unit_amount_cents"
) -> None:
    """Raises Invalid."""
    if unit_amount_cents % smallest_cents(currency):
        raise Invalid(name, "multiple", step=CENTS, currency=currency)


def check_discount(kind: str | None, value: int | None) -> None:
    """A kind and a value belong together. Raises Invalid."""
    if kind is not None and value is None:
        raise Invalid("discount_value", "required_with", other="discount_type")
    if kind is None and value is not None:
        raise Invalid("discount_type", "required_with", other="discount_value")
    if kind == Invoice.DiscountType.PERCENT and (value or 0) > 100:
        raise Invalid("discount_value", "percent")
