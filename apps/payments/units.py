"""The smallest amount of each currency, in cents."""

from fractions import Fraction

from apps.core.money import CENTS

WHOLE_UNIT_CURRENCIES = frozenset({"JPY"})


def step_of(currency: str) -> int:
    """The smallest amount of a currency, in cents."""
    return CENTS if currency in WHOLE_UNIT_CURRENCIES else 1


def to_units(cents: int, currency: str) -> int:
    """Cents as pages write them: half-even to the units that the currency has."""
    step = step_of(currency)
    return round(Fraction(cents, step)) * step
