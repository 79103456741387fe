"""What the forms of billing share: amounts and dates as people type them, a customer by e-mail address, refusals in people's words."""

import re
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, Self

from django.http import QueryDict

from apps.access.access import Access
from apps.billing.models import Customer
from apps.billing.requests import CustomerRequest
from apps.billing.selectors import customer_with_email, customers_seen_by
from apps.billing.services.customers import create_customer
from apps.core import money
from apps.core.errors import Flat
from apps.core.forms import Form
from apps.core.invalid import SENTENCES, Invalid
from apps.core.literal import FiatAmount, is_uuid, parse_date
from apps.dashboard.plumbing import sentences

ADD = "add_customer"  # the button that adds somebody new
TEXT_MAX = 6000  # more than any text may hold, so that the service says so
_AMOUNT = FiatAmount(zero=True)
_LABELS = {
    "unit_amount_cents": "price",
    "discount_value": "discount",
    "discount_type": "kind of discount",
    "tax_rate_bps": "tax",
    "custom_number": "number",
    "po_number": "order number",
    "line_items": "lines",
    "interval_count": "number of intervals",
    "trial_period_days": "trial",
    "grace_cycles": "number of tolerated cycles",
}
_SENTENCES = {
    "Items can't be empty.": "Choose a price.",
    "Items must all have the same interval, interval_count and currency.": "All prices must be billed equally often and in one currency.",
    "Items name a price more than once.": "Choose each price once and raise its quantity instead.",
}
_LINE = re.compile(r"line_items\[(\d+)\]\.(\w+)", re.IGNORECASE)
_WHOLE = re.compile(r"must be a multiple of 100 in (\w+)")
_NAME = re.compile(rf"\b({'|'.join(_LABELS)})\b", re.IGNORECASE)


# What people are told of a rule whose sentence in the API speaks of fields and cents.
_WORDS = {"multiple": "{field} must be a whole number of {currency}"}


class InWords(Invalid):
    """A broken rule as people are told it."""

    @property
    def text(self) -> str:
        words = _WORDS.get(self.rule, SENTENCES[self.rule])
        return words.format(field=_label_of(self.field), **self.params)


def _label_of(field: str) -> str:
    return f"the {_LABELS[field]}" if field in _LABELS else field


class BillingForm(Form):
    """Texts as they were typed, and refusals in people's words."""

    def __init__(self, typed: Mapping[str, str]) -> None:
        super().__init__({name: text.replace("\r\n", "\n")[:TEXT_MAX] for name, text in typed.items()})

    def refuse(self, refusal: Exception) -> Self:
        if isinstance(refusal, Invalid):
            refusal = InWords(refusal.field, refusal.rule, **refusal.params)
        return super().refuse(refusal)

    def filled(self, *names: str) -> dict[str, str | None]:
        """Texts as requests have them: what was left empty is null."""
        return {name: self.values[name] or None for name in names}


class NoSuchCustomer(Flat):
    message = "No customer has this e-mail address; add the customer, or correct it"


def texts(posted: QueryDict, *names: str) -> dict[str, str]:
    """What was typed into these fields, as it was typed."""
    return {name: posted.get(name, "").strip().replace("\r\n", "\n")[:TEXT_MAX] for name in names}


def cents(text: str, name: str) -> int:
    """`12.50` or `12,50` -> 1250. Raises Invalid."""
    plain = text.replace(",", ".") if text.count(",") == 1 and "." not in text else text
    try:
        return money.cents_from_text(_AMOUNT.check(plain, name))
    except Invalid:
        raise Invalid(name, "number") from None


def whole(text: str, name: str) -> int:
    """A whole number. Raises Invalid."""
    if not (text.isascii() and text.isdigit() and len(text) <= 12):
        raise Invalid(name, "whole_number")
    return int(text)


def percent_bps(text: str, name: str) -> int:
    """`7.7` percent -> 770 basis points: hundredths of a percent are what cents are to an amount. Raises Invalid."""
    bps = cents(text.removesuffix("%").strip(), name)
    if bps > money.BASIS_POINTS:
        raise Invalid(name, "percent")
    return bps


def end_of_day(text: str, name: str) -> str:
    """The last second of a day, UTC, as the service takes it. Raises Invalid."""
    day = parse_date(text)
    if day is None:
        raise Invalid(name, "date")
    return datetime(day.year, day.month, day.day, 23, 59, 59, tzinfo=UTC).isoformat().replace("+00:00", "Z")


def customer_named(access: Access, posted: QueryDict) -> Customer:
    """Whom a form names; somebody new once the form says so. Raises NoSuchCustomer, or what adding a customer raises."""
    email = texts(posted, "email")["email"]
    found = customer_with_email(access, email) if email else None
    if found is None and ADD in posted:
        name = texts(posted, "customer_name")["customer_name"]
        return create_customer(access, CustomerRequest.read({"email": email, "name": name or None}))
    if found is None or found.deleted_at is not None:
        raise NoSuchCustomer
    return found


def may_add(access: Access, email: str, refusal: Exception) -> bool:
    """Whether a form that was refused offers to add the customer."""
    return isinstance(refusal, NoSuchCustomer) and bool(email) and customer_with_email(access, email) is None


def email_of(access: Access, id: str) -> str:
    """The address of the customer whose page led to a form; empty when there is none."""
    found = customers_seen_by(access).filter(pk=id, deleted_at=None).first() if is_uuid(id) else None
    return found.email if found is not None else ""


def told(refusal: Exception) -> list[str]:
    """The names of fields in people's words."""
    return [_in_words(text) for text in sentences(refusal)]


def _in_words(text: str) -> str:
    if text in _SENTENCES:
        return _SENTENCES[text]
    text = _WHOLE.sub(r"must be a whole number of \1", text)
    text = _LINE.sub(lambda found: f"line {int(found[1]) + 1}: {found[2].lower()}", text)
    text = _NAME.sub(lambda found: f"the {_LABELS[found[1].lower()]}", text)
    return text[:1].upper() + text[1:]


def kept(given: dict[str, str], *names: str) -> dict[str, Any]:
    """Texts as the service takes them: what was left empty is null."""
    return {name: given[name] or None for name in names}
