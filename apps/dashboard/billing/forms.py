"""Shared parts of billing's forms: typed amounts and dates, a customer by email address, refusals
in people's words."""

from collections.abc import Mapping
from datetime import UTC, tzinfo
from typing import Self

from django.utils.translation import gettext, gettext_noop

from apps.access.access import Access
from apps.billing.models import Customer, DiscountType
from apps.billing.requests import CustomerRequest
from apps.billing.selectors import (
    customer_with_email,
    customers_visible_to,
    tax_rates_visible_to,
)
from apps.billing.services.customers import create_customer
from apps.core import money
from apps.core.errors import Failure
from apps.core.messages.fields import is_uuid, parse_date
from apps.core.messages.invalid import SENTENCES, Invalid
from apps.core.text.countries import countries
from apps.core.text.days import end_of_day
from apps.core.typed_amounts import cents_typed, percent_typed, whole_typed
from apps.core.web.forms import Form, figures_of
from apps.dashboard.billing.columns import ADDRESS

ADD = "add_customer"  # the button that adds somebody new
RATES_MAX = 200
TEXT_MAX = 6000  # more than any text may hold, so that the service says so
# What people call a field of a request; others are called by their own name.
_LABELS = {
    "unit_amount_cents": gettext_noop("the price"),
    "discount_value": gettext_noop("the discount"),
    "discount_type": gettext_noop("the kind of discount"),
    "tax_rate_bps": gettext_noop("the tax"),
    "tax_rate_id": gettext_noop("the tax"),
    "rate_bps": gettext_noop("the tax"),
    "rate": gettext_noop("tax"),
    "vat_number": gettext_noop("VAT number"),
    "supplied_from": gettext_noop("Supplied from"),
    "supplied_until": gettext_noop("Supplied until"),
    "reason": gettext_noop("Reason"),
    "reason_code": gettext_noop("Reason code"),
    "category": gettext_noop("Category"),
    "invoice_prefix": gettext_noop("the prefix of invoices"),
    "credit_note_prefix": gettext_noop("the prefix of credit notes"),
    "custom_number": gettext_noop("the number"),
    "po_number": gettext_noop("the order number"),
    "buyer_reference": gettext_noop("the buyer’s reference"),
    "electronic_address": gettext_noop("the electronic address"),
    "e_invoice_format": gettext_noop("E-invoice with emails"),
    "line_items": gettext_noop("the lines"),
    "interval_count": gettext_noop("the number of intervals"),
    "trial_period_days": gettext_noop("the trial"),
    "grace_cycles": gettext_noop("the number of failed payments"),
    "due": gettext_noop("due day"),
    "email": gettext_noop("email"),
    "name": gettext_noop("name"),
    "phone": gettext_noop("phone"),
    "country": gettext_noop("country"),
    "currency": gettext_noop("currency"),
    "amount": gettext_noop("amount"),
    "interval": gettext_noop("interval"),
    "description": gettext_noop("description"),
    "notes": gettext_noop("notes"),
    "footer": gettext_noop("footer"),
    "quantity": gettext_noop("quantity"),
    "discount": gettext_noop("discount"),
    "tax": gettext_noop("tax"),
    "price": gettext_noop("price"),
}
# The words for people of a rule whose sentence in the API speaks of fields and cents.
_WORDS = {
    "multiple": gettext_noop("{field} must be a whole number of {currency}"),
    "no_items": gettext_noop("choose a price"),
    "one_cycle": gettext_noop("all prices must be billed equally often and in one currency"),
    "price_once": gettext_noop("choose each price once and raise its quantity instead"),
}


class LocalizedInvalid(Invalid):
    """A broken rule as people read it, in their language."""

    @property
    def text(self) -> str:
        words = _WORDS.get(self.rule, SENTENCES[self.rule])
        params = figures_of(self)
        if "other" in params:
            params["other"] = _label_of(str(params["other"]))
        return gettext(words).format(field=_label_of(self.field), **params)


def _label_of(field: str) -> str:
    name, position, inner = parts_of(field)
    if not inner:
        return gettext(_LABELS.get(name, name))
    label = "price" if inner == "unit_amount_cents" else inner
    own = gettext(label)
    if name != "line_items":
        return own
    return gettext("line {number}: {field}").format(number=position + 1, field=own)


def parts_of(field: str) -> tuple[str, int, str]:
    """`line_items[2].quantity` -> its list, its position and its own name; a field of no list has
    no own name."""
    name, _, rest = field.partition("[")
    position, _, inner = rest.partition("].")
    return name, int(position or 0), inner


class BillingForm(Form):
    """Texts as they were typed, and refusals in people's words."""

    def __init__(self, typed: Mapping[str, str]) -> None:
        super().__init__({name: text[:TEXT_MAX] for name, text in typed.items()})

    def refuse(self, refusal: Exception) -> Self:
        if isinstance(refusal, Invalid):
            refusal = LocalizedInvalid(refusal.field, refusal.rule, **refusal.params)
        return super().refuse(refusal)

    def filled(self, *names: str) -> dict[str, str | None]:
        """Texts as requests have them: what was left empty is null."""
        return {name: self.values[name] or None for name in names}


class PostalAddressForm(BillingForm):
    """A form in which a customer's address is typed, part by part."""

    @property
    def address(self) -> list[tuple[str, str, str]]:
        """Each part: its input, its label, what was typed."""
        return [(name, gettext(label), self.values[name]) for name, label in ADDRESS.items()]

    def address_typed(self) -> dict[str, object]:
        """The parts that aren't empty, as requests have them."""
        return {name: self.values[name] for name in ADDRESS if self.values[name]}

    @property
    def countries(self) -> list[tuple[str, str]]:
        """Countries to choose from, and an API's value that is none of them."""
        written = self.values["country"]
        choices = countries()
        return (
            choices if not written or written in dict(choices) else [(written, written), *choices]
        )


def rates_to_choose(access: Access, *chosen: str) -> list[tuple[str, str]]:
    """The IDs and names of active rates, and of those that were chosen before."""
    rows = tax_rates_visible_to(access)[:RATES_MAX]
    return [(str(rate.pk), str(rate)) for rate in rows if rate.active or str(rate.pk) in chosen]


def discount_typed(kind: str, text: str, currency: str) -> dict[str, object]:
    """A discount as requests have it, null when none was typed. Raises Invalid."""
    if not text:
        return {"discount_type": None, "discount_value": None}
    value = (
        whole_typed(text.removesuffix("%").strip(), "discount")
        if kind == DiscountType.PERCENT
        else cents_typed(text, "discount", currency)
    )
    return {"discount_type": kind or None, "discount_value": value}


def discount_shown(kind: str | None, value: int | None) -> dict[str, str]:
    """A discount as it is typed."""
    if value is None:
        return {"discount_type": kind or "", "discount": ""}
    is_amount = kind == DiscountType.AMOUNT
    text = money.text_from_cents(value) if is_amount else str(value)
    return {"discount_type": kind or "", "discount": text}


class NoSuchCustomer(Failure):
    field = "email"
    message = gettext_noop("No customer has this email address; add the customer, or correct it")


def percent_bps(text: str, name: str) -> int:
    """`7.7` percent -> 770 basis points: hundredths of a percent are what cents are to an amount.
    Raises Invalid."""
    bps = percent_typed(text, name)
    if bps > money.BASIS_POINTS:
        raise Invalid(name, "percent")
    return bps


def last_second(text: str, name: str, zone: tzinfo) -> str:
    """The last second of a day of a zone, as requests have it. Raises Invalid."""
    day = parse_date(text)
    if day is None:
        raise Invalid(name, "date")
    try:
        end = end_of_day(day, zone).astimezone(UTC)
    except OverflowError:
        raise Invalid(name, "date") from None
    return end.isoformat().replace("+00:00", "Z")


def customer_named(access: Access, form: PostalAddressForm, *, is_adding: bool) -> Customer:
    """The customer whom a form names by `email`; a new one with `customer_name` and the address.
    Raises NoSuchCustomer, or what adding a customer raises."""
    email = form.values["email"]
    name = form.values["customer_name"]
    customer = customer_with_email(access, email) if email else None
    if customer is None and is_adding:
        asked = {"email": email, "name": name or None, "address": form.address_typed() or None}
        return create_customer(access, CustomerRequest.read(asked))
    if customer is None or customer.deleted_at is not None:
        raise NoSuchCustomer
    return customer


def may_add(access: Access, email: str, refusal: Exception, *, is_adding: bool) -> bool:
    """True if a form that was refused offers to add the customer, and keeps what was typed of
    them."""
    return (
        (is_adding or isinstance(refusal, NoSuchCustomer))
        and bool(email)
        and customer_with_email(access, email) is None
    )


def email_of(access: Access, id: str) -> str:
    """The address of the customer whose page led to a form; empty when there is none."""
    customer = (
        customers_visible_to(access).filter(pk=id, deleted_at=None).first() if is_uuid(id) else None
    )
    return customer.email if customer is not None else ""
