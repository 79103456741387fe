"""Customers: who is billed. The list with its search, one customer with what it owes, the form, and
deleting one."""

from collections.abc import Mapping
from urllib.parse import urlencode

from django.contrib import messages
from django.db.models import QuerySet
from django.http import HttpResponse
from django.utils.translation import gettext

from apps.billing import selectors
from apps.billing.e_invoices.formats import COMMON_FORMATS
from apps.billing.invoices import customer_credit
from apps.billing.models import Customer, VatCheck
from apps.billing.requests import CustomerChanges, CustomerRequest
from apps.billing.services import customers, vat_checks
from apps.billing.services.portal import portal_url
from apps.billing.subscriptions.upcoming import cycle_cents
from apps.core import searching
from apps.core.money import Fiat
from apps.core.text.countries import country_code, country_name
from apps.dashboard.billing.columns import ADDRESS, CUSTOMERS
from apps.dashboard.billing.forms import PostalAddressForm, rates_to_choose
from apps.dashboard.site import form_keys
from apps.dashboard.site.views import (
    Answer,
    PageRequest,
    Refusals,
    find,
    go,
    is_htmx,
    sentences,
    show,
)
from apps.dashboard.tables.paging import window
from apps.payments.models import Payment
from apps.payments.services.refund_quote import LOCKED
from apps.payments.services.worth import fiat_text

SHOWN = 10
_FIELDS = (
    "email",
    "name",
    "phone",
    "vat_number",
    "tax_rate_id",
    "buyer_reference",
    "electronic_address",
    "e_invoice_format",
)


def index(request: PageRequest) -> HttpResponse:
    text = _asked(request)
    page = window(selectors.search_customers(request.access, text), request.GET, {"q": text})
    context = {
        "table": CUSTOMERS.table(request, page.rows, {"q": text} if text else {}),
        "window": page,
        "q": text,
        "looked_through_max": searching.LOOKED_THROUGH_MAX,
        "is_empty": not page.rows and not text and "page" not in request.GET,
    }
    part = is_htmx(request) and not request.headers.get("HX-History-Restore-Request")
    return show(
        request,
        "dashboard/customers/_rows.html" if part else "dashboard/customers/list.html",
        context,
    )


def _asked(request: PageRequest) -> str:
    return request.GET.get("q", "").strip()[:255]


def export(request: PageRequest) -> Answer:
    return CUSTOMERS.csv(request, selectors.search_customers(request.access, _asked(request)))


def _customers(request: PageRequest) -> "QuerySet[Customer]":
    return selectors.customers_visible_to(request.access)


def show_one(request: PageRequest, id: str) -> HttpResponse:
    """Deleted ones too: their invoices lead here."""
    customer: Customer = find(_customers(request), id)
    access = request.access
    of = {"customer_id": str(customer.pk)}
    invoices = selectors.filtered_invoices(selectors.invoices_visible_to(access), **of)
    newest = list(invoices[:SHOWN])
    subscriptions = selectors.filtered_subscriptions(
        selectors.subscriptions_visible_to(access), **of
    )
    now = access.now()
    context = {
        "customer": customer,
        "address": _lines(customer.address or {}),
        "owed": selectors.owed(access, now, customer),
        "invoices": newest,
        "paying": selectors.being_paid(newest),
        "subscriptions": [
            {"row": subscription, "cents": cycle_cents(subscription)}
            for subscription in subscriptions[:SHOWN]
        ],
        "credit": [
            (part, _to_pay_back(customer, part.currency))
            for part in customer_credit.credit_of(customer)
        ],
        "checks": selectors.vat_checks_of(access, customer, 5),
        "portal_url": portal_url(customer) if customer.deleted_at is None else "",
        "now": now,
    }
    return show(request, "dashboard/customers/detail.html", context)


def _to_pay_back(customer: Customer, currency: str) -> list[tuple[Payment, str]]:
    """The payments whose refund pays credit back, each with the form that does."""
    return [
        (payment, urlencode({"unit": LOCKED, "amount": fiat_text(Fiat(cents, currency))}))
        for payment, cents in customer_credit.payments_to_refund(customer, currency)
    ]


class CustomerForm(PostalAddressForm):
    """`before` is the address that the customer has: what an API wrote into it beside these inputs
    stays."""

    names = (*_FIELDS, *ADDRESS)
    hidden = (form_keys.NAME,)
    inputs = {"address": "line1", "vat_number": "vat_number"}

    def __init__(
        self, typed: Mapping[str, str], before: Mapping[str, object] | None = None
    ) -> None:
        super().__init__(typed)
        self.other_fields = {
            name: value for name, value in (before or {}).items() if name not in ADDRESS
        }

    def request(self) -> CustomerRequest:
        """Raises Invalid."""
        return CustomerRequest.read(self._fields())

    def changes(self) -> CustomerChanges:
        """Raises Invalid."""
        return CustomerChanges.read(self._fields())

    def _fields(self) -> dict[str, object]:
        address = {**self.address_typed(), **self.other_fields}
        return {**self.filled(*_FIELDS), "address": address or None}

    @property
    def formats(self) -> list[tuple[str, str]]:
        """Formats of the XML to choose from."""
        return [(item.key, item.name) for item in COMMON_FORMATS.values()]


def create(request: PageRequest) -> HttpResponse:
    if request.method == "GET":
        return _form(
            request, CustomerForm({"email": request.GET.get("email", "")[:254], **form_keys.new()})
        )
    form = CustomerForm(request.POST.dict())
    try:
        key = form_keys.of(form.values)
        customer = customers.create_customer(request.access, form.request(), form_key=key)
    except Refusals as refusal:
        return _form(request, form.refuse(refusal))
    messages.success(request, f"{customer.email} added.")
    return go("customer", customer.pk)


def edit(request: PageRequest, id: str) -> HttpResponse:
    customer: Customer = find(_customers(request).filter(deleted_at=None), id)
    if request.method == "GET":
        fields = {name: str(getattr(customer, name) or "") for name in _FIELDS}
        if customer.country and not (customer.address or {}).get("country"):
            fields["country"] = customer.country
        return _form(request, CustomerForm({**fields, **_shown(customer.address or {})}), customer)
    if "check" in request.POST:
        return _check(request, customer)
    form = CustomerForm(request.POST.dict(), customer.address)
    try:
        customers.update_customer(request.access, customer, form.changes())
    except Refusals as refusal:
        return _form(request, form.refuse(refusal), customer)
    messages.success(request, gettext("Saved. Open invoices show the change too."))
    return go("customer", customer.pk)


def _check(request: PageRequest, customer: Customer) -> HttpResponse:
    """Ask the registry about the customer's VAT number."""
    try:
        result = vat_checks.check_number(request.access, customer).result
    except Refusals as refusal:
        messages.error(request, " ".join(sentences(refusal)))
        return go("customer", customer.pk)
    if result == VatCheck.Result.VALID:
        messages.success(request, gettext("The VAT number is valid."))
    elif result == VatCheck.Result.INVALID:
        messages.error(request, gettext("The registry says that this VAT number isn’t valid."))
    else:
        messages.error(request, gettext("The registry didn’t answer. Try again later."))
    return go("customer", customer.pk)


def _lines(address: Mapping[str, object]) -> list[tuple[str, object]]:
    """The parts of an address that the form knows, in its order, then the others."""
    parts = {**address}
    if isinstance(country := address.get("country"), str):
        parts["country"] = country_name(country)
    pairs = [(gettext(label), parts[name]) for name, label in ADDRESS.items() if name in parts]
    return pairs + [(name, value) for name, value in address.items() if name not in ADDRESS]


def _shown(address: Mapping[str, object]) -> dict[str, str]:
    fields = {
        name: str(address[name]) for name in ADDRESS if isinstance(address.get(name), (str, int))
    }
    country = fields.get("country", "")
    return {**fields, "country": country_code(country) or country}


def _form(
    request: PageRequest, form: CustomerForm, customer: Customer | None = None
) -> HttpResponse:
    context = {
        "form": form,
        "errors": form.common_errors,
        "customer": customer,
        "rates": rates_to_choose(request.access, form.values["tax_rate_id"]),
    }
    return show(request, "dashboard/customers/form.html", context, status=form.status)


def delete(request: PageRequest, id: str) -> HttpResponse:
    """A page that says what ends with it, then the deleting."""
    customer: Customer = find(_customers(request).filter(deleted_at=None), id)
    if request.method == "GET":
        running = selectors.running_counts(request.access, [customer]).get(customer.pk, 0)
        waiting = selectors.open_counts(request.access, [customer]).get(customer.pk, 0)
        return show(
            request,
            "dashboard/customers/delete.html",
            {"customer": customer, "running": running, "open": waiting},
        )
    customers.delete_customer(request.access, customer)
    done = gettext("{customer} deleted. Their invoices are kept.").format(customer=customer.email)
    messages.success(request, done)
    return go("customers")
