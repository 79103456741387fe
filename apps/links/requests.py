"""Requests about links: `LinkRequest` for every interface, and what the API is sent for one."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated

from django.core.exceptions import ValidationError
from django.core.validators import EmailValidator
from msgspec import UNSET, UnsetType

from apps.core.messages.fields import Field, Integer, Invalid, List, Moment, Text, Url
from apps.core.messages.requests import Edits, Request, Values, by
from apps.core.money import CENTS, text_from_cents
from apps.links.models import PaymentLink
from apps.payments.services.prices import AMOUNT_CENTS_MAX
from apps.payments.units import WHOLE_UNIT_CURRENCIES
from apps.stores.models import Currency

TITLE_MAX = 150
DESCRIPTION_MAX = 500
EMAIL_MAX = 254
NAME_MAX = 255
SUGGESTED_MAX = 4
STOCK_MAX = 1_000_000
_is_email = EmailValidator()


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
    """A customer's entries on the page of a link. `form_key` makes the same form the same
    payment."""

    form_key: str
    amount_cents: int | None = None
    email: str = ""
    name: str = ""

    def check(self, link: PaymentLink) -> int:
        """Amount to be paid, in cents. Raises Invalid for the first broken rule."""
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


# --- the API --------------------------------------------------------------------------------------


Title = Annotated[str, by(Text(TITLE_MAX, shortest=1, trim=True))]
Description = Annotated[str, by(Text(DESCRIPTION_MAX))]
CurrencyCode = Annotated[str, by(Text(3, choices=Currency.values))]
Cents = Annotated[int, by(Integer(1, AMOUNT_CENTS_MAX))]
Suggestions = Annotated[list[Cents], by(List(Field(), SUGGESTED_MAX))]
Stock = Annotated[int, by(Integer(1, STOCK_MAX))]
EndsAt = Annotated[datetime, by(Moment())]
SuccessUrl = Annotated[str, by(Url(plain_http="any"))]
Asks = Annotated[str, by(Text(8, choices=PaymentLink.Ask.values))]
# By the field of the API: that of LinkRequest, and its name in what that refuses.
FIELDS = {
    "title": ("title", "title"),
    "currency": ("currency", "currency"),
    "description": ("description", "description"),
    "amount_cents": ("amount_cents", "amount"),
    "min_amount_cents": ("min_cents", "min"),
    "max_amount_cents": ("max_cents", "max"),
    "suggested_amounts_cents": ("suggested_cents", "suggested"),
    "stock": ("stock", "stock"),
    "ends_at": ("ends_at", "ends"),
    "success_url": ("success_url", "success_url"),
    "customer_email": ("email", "email"),
    "customer_name": ("name", "name"),
}
_CHOSEN = ("min_amount_cents", "max_amount_cents", "suggested_amounts_cents")


class PaymentLinkRequest(Request, frozen=True, kw_only=True):
    title: Title
    currency: CurrencyCode
    description: Description | None = None
    amount_cents: Cents | None = None
    min_amount_cents: Cents | None = None
    max_amount_cents: Cents | None = None
    suggested_amounts_cents: Suggestions = []
    stock: Stock | None = None
    ends_at: EndsAt | None = None
    success_url: SuccessUrl | None = None
    customer_email: Asks = PaymentLink.Ask.NO
    customer_name: Asks = PaymentLink.Ask.NO

    def link(self) -> LinkRequest:
        """Raises Invalid for limits beside a fixed amount."""
        return _link({name: getattr(self, name) for name in FIELDS})


class PaymentLinkChanges(Edits, frozen=True, kw_only=True):
    title: Title | UnsetType = UNSET
    currency: CurrencyCode | UnsetType = UNSET
    description: Description | UnsetType | None = UNSET
    amount_cents: Cents | UnsetType | None = UNSET
    min_amount_cents: Cents | UnsetType | None = UNSET
    max_amount_cents: Cents | UnsetType | None = UNSET
    suggested_amounts_cents: Suggestions | UnsetType = UNSET
    stock: Stock | UnsetType | None = UNSET
    ends_at: EndsAt | UnsetType | None = UNSET
    success_url: SuccessUrl | UnsetType | None = UNSET
    customer_email: Asks | UnsetType = UNSET
    customer_name: Asks | UnsetType = UNSET

    def link(self, link: PaymentLink) -> LinkRequest:
        """The link with these changes. A new fixed amount takes the limits away, if they aren't
        sent beside it. Raises Invalid as a new one does."""
        sent = self.sent()
        kept = {name: getattr(link, column) for name, (column, _) in FIELDS.items()}
        if sent.get("amount_cents") is not None:
            kept |= {"min_amount_cents": None, "max_amount_cents": None}
            kept |= {"suggested_amounts_cents": []}
        return _link(kept | sent)


def _link(fields: Values) -> LinkRequest:
    if fields["amount_cents"] is not None:
        for name in _CHOSEN:
            if fields[name]:
                raise Invalid(name, "fixed_amount")
    return LinkRequest(**{FIELDS[name][0]: value for name, value in fields.items()})
