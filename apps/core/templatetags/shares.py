"""How pages write shares that are kept in basis points, such as VAT rates and tips."""

from django import template

from apps.core import money
from apps.core.templatetags.tillgate import percentage

register = template.Library()


@register.filter
def share(bps: int) -> str:
    """1950: 19.5%, in the reader's language."""
    return percentage(money.decimal_from_atomic(int(bps), 2))
