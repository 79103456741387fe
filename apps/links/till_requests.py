"""Requests at the till: the same classes for the dashboard, the hosted page and the demo."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from apps.core.messages.fields import Integer, Invalid, Text
from apps.core.money import BASIS_POINTS, text_from_cents
from apps.links.requests import check_price
from apps.payments.requests import LINE_ITEMS_MAX
from apps.payments.services.prices import AMOUNT_CENTS_MAX
from apps.stores.models import Currency

NOTE_MAX = 150
ITEM_NAME_MAX = 100
TILL_NAME_MAX = 40
TIPS_MAX = 4
RATES_MAX = 4
NAMES_MAX = 20
QUANTITY_MAX = 999
# One of a payment's lines is the tip's.
LINES_MAX = LINE_ITEMS_MAX - 1
KEY_LENGTH = 32


def check_rate(bps: int | None, name: str) -> None:
    """A VAT rate; none says nothing about VAT. Raises Invalid."""
    if bps is not None and not 0 <= bps <= BASIS_POINTS:
        raise Invalid(name, "percent")


@dataclass(frozen=True, kw_only=True)
class TillRequest:
    """Settings of a store's till: its currency, tips and VAT rates in basis points, and the names
    of its devices. Raises Invalid."""

    currency: str
    tip_bps: Sequence[int] = ()
    vat_bps: Sequence[int] = ()
    names: Sequence[str] = ()

    def check(self) -> None:
        if self.currency not in Currency.values:
            raise Invalid("currency", "choose_value")
        if len(self.tip_bps) > TIPS_MAX:
            raise Invalid("tips", "too_many_items", maximum=TIPS_MAX)
        if any(not 0 < bps <= BASIS_POINTS for bps in self.tip_bps):
            raise Invalid("tips", "percent")
        if len(self.vat_bps) > RATES_MAX:
            raise Invalid("vat", "too_many_items", maximum=RATES_MAX)
        for bps in self.vat_bps:
            check_rate(bps, "vat")
        if len(self.names) > NAMES_MAX:
            raise Invalid("names", "too_many_items", maximum=NAMES_MAX)
        for name in self.names:
            Text(TILL_NAME_MAX, shortest=1).check(name, "names")


@dataclass(frozen=True, kw_only=True)
class ItemRequest:
    """Something that the till sells; its price includes the VAT. Raises Invalid."""

    name: str
    price_cents: int
    currency: str
    vat_bps: int | None = None

    def check(self) -> None:
        Text(ITEM_NAME_MAX, shortest=1).check(self.name, "name")
        check_price(self.price_cents, self.currency, "price")
        check_rate(self.vat_bps, "vat")


@dataclass(frozen=True, kw_only=True)
class SaleLine:
    """Items of a kind, or an amount that was typed. The amount includes the VAT."""

    description: str
    unit_amount_cents: int
    quantity: int = 1
    vat_bps: int | None = None

    @property
    def amount_cents(self) -> int:
        return self.quantity * self.unit_amount_cents


@dataclass(frozen=True, kw_only=True)
class SaleRequest:
    """A sale in person. The device makes `form_key` before it sends the sale for the first time.

    `tip_cents` is what the customer has said already; without it they are asked where
    `offered_bps` offers something. `expected_cents` is the sum that the device shows, in
    `expected_currency`.
    """

    lines: Sequence[SaleLine]
    currency: str
    form_key: str = field(repr=False)
    note: str = ""
    till_name: str = ""
    offered_bps: Sequence[int] = ()
    tip_cents: int | None = None
    expected_cents: int | None = None
    expected_currency: str = ""

    @property
    def amount_cents(self) -> int:
        return sum(line.amount_cents for line in self.lines)

    def check(self) -> None:
        """Raises Invalid for the first broken rule."""
        check_key(self.form_key)
        if self.currency not in Currency.values:
            raise Invalid("currency", "choose_value")
        if not self.lines:
            raise Invalid("amount", "required")
        if len(self.lines) > LINES_MAX:
            raise Invalid("amount", "too_many_items", maximum=LINES_MAX)
        for line in self.lines:
            Text(NOTE_MAX).check(line.description, "note")
            Integer(1, QUANTITY_MAX).check(line.quantity, "quantity")
            check_price(line.unit_amount_cents, self.currency, "amount")
            check_rate(line.vat_bps, "vat")
        check_price(self.amount_cents, self.currency, "amount")
        Text(NOTE_MAX).check(self.note, "note")
        if self.tip_cents:
            check_tip(self.tip_cents, self.amount_cents, self.currency)


def check_tip(tip_cents: int, amount_cents: int, currency: str) -> int:
    """A tip that can be paid with this amount; none is fine. Raises Invalid."""
    if tip_cents:
        check_price(tip_cents, currency, "tip")
    if amount_cents + tip_cents > AMOUNT_CENTS_MAX:
        maximum = text_from_cents(AMOUNT_CENTS_MAX - amount_cents)
        raise Invalid("tip", "at_most", maximum=maximum)
    return tip_cents


def check_key(key: str) -> None:
    """Raises Invalid."""
    if not (len(key) == KEY_LENGTH and key.isascii() and key.isalnum()):
        raise Invalid("form_key", "old_form")
