"""Inputs of the staff site in people's units: percent, money and coins, of columns in basis points,
fractions, cents and atomic units. What they clean to is what the column has."""

from decimal import Decimal
from typing import TYPE_CHECKING, Any, ClassVar

from django import forms

from apps.core import money
from apps.core.messages.invalid import Invalid
from apps.core.typed_amounts import (
    LENGTH_MAX,
    Ambiguous,
    cents_typed,
    coins_typed,
    percent_text,
    unmistakable,
)
from apps.staff.plumbing.values import coin_of, currency_of

if TYPE_CHECKING:
    from django.db.models import Field, Model

    _DbField = Field[Any, Any]


_BOUNDS = ("decimal_places", "max_digits", "max_value", "min_value")


def amount_widget() -> forms.TextInput:
    """The input of every amount and percentage, as the other pages have it."""
    return forms.TextInput(
        attrs={"inputmode": "decimal", "autocomplete": "off", "maxlength": LENGTH_MAX}
    )


def count_widget() -> forms.TextInput:
    """The input of a whole number, without the arrows of a browser."""
    return forms.TextInput(
        attrs={"inputmode": "numeric", "autocomplete": "off", "maxlength": LENGTH_MAX}
    )


class UnitField(forms.CharField):
    """`places` is how many the unit has; `unit` follows the label."""

    unit = ""
    places = 0
    wrong: ClassVar[str] = "Enter a number with at most {places} decimal places"

    def __init__(self, **options: Any) -> None:
        for bound in _BOUNDS:  # of what the column has, which the record's own rules check
            options.pop(bound, None)
        options["widget"] = amount_widget()
        super().__init__(**options)

    def belong_to(self, row: "Model", name: str) -> None:
        """Learn the unit from the record whose column it is."""
        self.label = f"{self.label} ({self.unit})"

    def prepare_value(self, value: Any) -> Any:
        """The column's value in people's units; typed text stays."""
        return value if value is None or isinstance(value, str) else self.as_typed(value)

    def to_python(self, value: Any) -> Any:
        text = super().to_python(value)
        if not text:
            return None
        try:
            smallest = self.smallest(text)
        except Ambiguous as refusal:
            raise forms.ValidationError(refusal.text_of("The amount")) from None
        except Invalid:
            smallest = None
        if smallest is None:
            raise forms.ValidationError(self.wrong.format(places=self.places))
        return self.as_stored(smallest)

    def smallest(self, text: str) -> int | None:
        """Typed number in the smallest unit. Raises Invalid."""
        plain = coins_typed(text, "amount", self.places)
        return money.atomic_from_coins(plain, self.places)

    def as_typed(self, value: Any) -> str:
        return unmistakable(money.decimal_from_atomic(int(value), self.places))

    def as_stored(self, smallest: int) -> Any:
        """Of so many of the smallest parts that can be typed."""
        return smallest


class BasisPointsField(UnitField):
    unit = "%"
    places = 2
    wrong = "Enter a percentage from 0 to 100, with at most {places} decimal places"

    def smallest(self, text: str) -> int | None:
        plain = percent_text(text)
        return money.atomic_from_coins(plain, self.places) if plain else None

    def as_stored(self, smallest: int) -> Any:
        if smallest > 100 * 10**self.places:
            raise forms.ValidationError(self.wrong.format(places=self.places))
        return smallest


class FractionField(BasisPointsField):
    places = 6

    def as_typed(self, value: Any) -> str:
        return money.points_text(Decimal(value))

    def as_stored(self, smallest: int) -> Decimal:
        points = super().as_stored(smallest)
        return Decimal(money.decimal_from_atomic(points, self.places + 2))


class MoneyField(UnitField):
    places = 2
    currency = ""

    def smallest(self, text: str) -> int | None:
        return cents_typed(text, "amount", self.currency)

    def belong_to(self, row: "Model", name: str) -> None:
        self.currency = currency_of(row, name) or ""
        self.unit = self.currency or "money"
        super().belong_to(row, name)


class CoinsField(UnitField):
    def belong_to(self, row: "Model", name: str) -> None:
        self.unit, self.places = coin_of(row, name) or ("atomic units", 0)
        super().belong_to(row, name)


_BY_END: dict[str, type[UnitField]] = {
    "_atomic": CoinsField,
    "_bps": BasisPointsField,
    "_cents": MoneyField,
    "_fraction": FractionField,
}


def unit_field_of(column: "_DbField") -> type[UnitField] | None:
    """None for a column that has no unit, or a choice of values."""
    kinds = (kind for end, kind in _BY_END.items() if column.name.endswith(end))
    return None if column.choices else next(kinds, None)
