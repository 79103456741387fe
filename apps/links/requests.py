"""What is asked for with links and at the till: the same classes for the dashboard, the hosted page
and the demo."""

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime

from django.core.exceptions import ValidationError
from django.core.validators import EmailValidator

from apps.core.messages.fields import FiatAmount, Invalid, Text, Url
from apps.core.money import BASIS_POINTS, CENTS, cents_from_text, text_from_cents
from apps.links.models import PaymentLink
from apps.payments.services.prices import AMOUNT_CENTS_MAX, WHOLE_UNIT_CURRENCIES
from apps.stores.models import Currency

TITLE_MAX = 150
DESCRIPTION_MAX = 500
EMAIL_MAX = 254
NAME_MAX = 255
NOTE_MAX = 150
SUGGESTED_MAX = 4
TIPS_MAX = 4
STOCK_MAX = 1_000_000
_is_email = EmailValidator()
_AMOUNT = FiatAmount(zero=True)


def smallest_cents(currency: str) -> int:
    """A currency's smallest unit: a whole yen is a hundred cents here."""
    return CENTS if currency in WHOLE_UNIT_CURRENCIES else 1


def check_price(cents: int, currency: str, name: str) -> int:
    """An amount that a payment can have. Raises Invalid."""
    if cents <= 0:
        raise Invalid(name, "positive")
    if cents > AMOUNT_CENTS_MAX:
        raise Invalid(name, "at_most", maximum=text_from_cents(AMOUNT_CENTS_MAX))
    if cents % smallest_cents(currency):
        raise Invalid(name, "whole_unit", currency=currency)
    return cents


def cents_typed(text: str, name: str) -> int:
    """`12.50`, `12,50` or the same in another script's digits -> 1250. Raises Invalid."""
    plain = "".join(
        str(unicodedata.decimal(character)) if character.isdecimal() else character
        for character in text
    )
    plain = plain.replace("\N{ARABIC DECIMAL SEPARATOR}", ".")
    plain = plain.replace(",", ".") if plain.count(",") == 1 and "." not in plain else plain
    try:
        return cents_from_text(_AMOUNT.check(plain, name))
    except Invalid:
        raise Invalid(name, "number") from None


@dataclass(frozen=True, kw_only=True)
class LinkRequest:
    """A link as it is to be. It has an amount, or limits between which the customer chooses one.
    Raises Invalid."""

    title: str
    currency: str
    description: str | None = None
    amount_cents: int | None = None
    min_cents: int | None = None
    max_cents: int | None = None
    suggested_cents: Sequence[int] = ()
    stock: int | None = None
    ends_at: datetime | None = None
    success_url: str | None = None
    email: str = PaymentLink.Ask.NO
    name: str = PaymentLink.Ask.NO

    def check(self, mode: str) -> None:
        """Raises Invalid for the first broken rule."""
        Text(TITLE_MAX, shortest=1).check(self.title, "title")
        if self.description is not None:
            Text(DESCRIPTION_MAX).check(self.description, "description")
        if self.currency not in Currency.values:
            raise Invalid("currency", "choose_value")
        self._check_amounts()
        if self.stock is not None and not 1 <= self.stock <= STOCK_MAX:
            raise Invalid(
                "stock", "at_least" if self.stock < 1 else "at_most", minimum=1, maximum=STOCK_MAX
            )
        if self.success_url is not None:
            Url(plain_http="any" if mode == "test" else "localhost").check(
                self.success_url, "success_url"
            )
        for choice, value in (("email", self.email), ("name", self.name)):
            if value not in PaymentLink.Ask.values:
                raise Invalid(choice, "choose_value")

    def _check_amounts(self) -> None:
        if self.amount_cents is not None:
            check_price(self.amount_cents, self.currency, "amount")
            return
        least, most = self.limits
        check_price(least, self.currency, "min")
        check_price(most, self.currency, "max")
        if most < least:
            raise Invalid("max", "at_least", minimum=text_from_cents(least))
        if len(self.suggested_cents) > SUGGESTED_MAX:
            raise Invalid("suggested", "too_many_items", maximum=SUGGESTED_MAX)
        for cents in self.suggested_cents:
            check_price(cents, self.currency, "suggested")
            if not least <= cents <= most:
                raise Invalid(
                    "suggested",
                    "between",
                    minimum=text_from_cents(least),
                    maximum=text_from_cents(most),
                )

    @property
    def limits(self) -> tuple[int, int]:
        """Between which a customer chooses."""
        least = smallest_cents(self.currency) if self.min_cents is None else self.min_cents
        return least, AMOUNT_CENTS_MAX if self.max_cents is None else self.max_cents

    def columns(self) -> dict[str, object]:
        """Of the row, after a check. What doesn't belong to the kind of amount is left out."""
        is_open = self.amount_cents is None
        least, most = self.limits
        return {
            "title": self.title,
            "description": self.description,
            "currency": self.currency,
            "amount_cents": self.amount_cents,
            "min_cents": least if is_open else None,
            "max_cents": most if is_open else None,
            "suggested_cents": list(self.suggested_cents) if is_open else [],
            "stock": self.stock,
            "ends_at": self.ends_at,
            "success_url": self.success_url,
            "email": self.email,
            "name": self.name,
        }


@dataclass(frozen=True, kw_only=True)
class Purchase:
    """What a customer fills in on the page of a link. `form_key` makes the same form the same
    payment."""

    form_key: str
    amount_cents: int | None = None
    email: str = ""
    name: str = ""

    def check(self, link: PaymentLink) -> int:
        """What is to be paid, in cents. Raises Invalid for the first broken rule."""
        if not (len(self.form_key) == 32 and self.form_key.isascii() and self.form_key.isalnum()):
            raise Invalid("form_key", "old_form")
        cents = link.amount_cents if link.amount_cents is not None else self._chosen(link)
        _check_contact("email", self.email, link.email, EMAIL_MAX)
        _check_contact("name", self.name, link.name, NAME_MAX)
        if self.email:
            _check_email(self.email)
        return cents

    def _chosen(self, link: PaymentLink) -> int:
        if self.amount_cents is None:
            raise Invalid("amount", "required")
        cents = check_price(self.amount_cents, link.currency, "amount")
        least = link.min_cents or 0
        most = link.max_cents or AMOUNT_CENTS_MAX
        if not least <= cents <= most:
            rule, limit = ("at_least", least) if cents < least else ("at_most", most)
            raise Invalid(
                "amount", rule, minimum=text_from_cents(limit), maximum=text_from_cents(limit)
            )
        return cents


def _check_contact(name: str, text: str, choice: str, longest: int) -> None:
    if choice == PaymentLink.Ask.REQUIRED and not text:
        raise Invalid(name, "required")
    Text(longest).check(text, name)


def _check_email(text: str) -> None:
    try:
        _is_email(text)
    except ValidationError:
        raise Invalid("email", "payer_email") from None


@dataclass(frozen=True, kw_only=True)
class TillRequest:
    """What a store's till offers: its currency, and tips in basis points. Raises Invalid."""

    currency: str
    tip_bps: Sequence[int] = ()

    def check(self) -> None:
        if self.currency not in Currency.values:
            raise Invalid("currency", "choose_value")
        if len(self.tip_bps) > TIPS_MAX:
            raise Invalid("tips", "too_many_items", maximum=TIPS_MAX)
        if any(not 0 < bps <= BASIS_POINTS for bps in self.tip_bps):
            raise Invalid("tips", "percent")


@dataclass(frozen=True, kw_only=True)
class SaleRequest:
    """A sale in person. The tip comes on top of the amount; each is a line of the payment, so that
    they add up."""

    amount_cents: int
    currency: str
    tip_cents: int = 0
    note: str = ""
    form_key: str = field(repr=False)

    def check(self) -> None:
        """Raises Invalid for the first broken rule."""
        if self.currency not in Currency.values:
            raise Invalid("currency", "choose_value")
        check_price(self.amount_cents, self.currency, "amount")
        if self.tip_cents:
            check_price(self.tip_cents, self.currency, "tip")
        Text(NOTE_MAX).check(self.note, "note")
