"""The editor of drafts: lines, discount, tax, due date and notes, with totals that the service
counts, live or at a press of a button."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta, tzinfo
from itertools import zip_longest
from typing import Self

from django.contrib import messages
from django.http import HttpResponse
from django.utils.translation import gettext

from apps.billing.invoices.charged import Charged, taxes_of
from apps.billing.invoices.drafts import (
    OnlyDraftsEdited,
    create_invoice,
    preview,
    update_invoice,
)
from apps.billing.models import Customer, Invoice, InvoiceSettings, InvoiceTax
from apps.billing.requests import LINES_MAX, InvoiceChanges, InvoiceRequest
from apps.billing.selectors import active_customers, customer_with_email
from apps.billing.states import DRAFT
from apps.billing.taxes.counting import Totals
from apps.core import money
from apps.core.text.days import zone_named
from apps.core.typed_amounts import cents_typed, whole_typed
from apps.dashboard.billing.columns import ADDRESS
from apps.dashboard.billing.forms import (
    ADD,
    PostalAddressForm,
    customer_named,
    discount_shown,
    discount_typed,
    email_of,
    last_second,
    may_add,
    parts_of,
    percent_bps,
    rates_to_choose,
)
from apps.dashboard.billing.invoices import find_invoice
from apps.dashboard.billing.tax_words import case_words
from apps.dashboard.site import form_keys
from apps.dashboard.site.views import PageRequest, Refusals, go, is_htmx, sentences, show
from apps.stores.models import Currency

ROWS = 3
EMAILS_MAX = 500
_TEXTS = ("custom_number", "po_number", "buyer_reference", "description", "notes", "footer")
_NEW_LINE = {"what": "", "many": "1", "each": "", "rate": ""}
# Which input of a line a field of it is typed into.
_INPUTS = {
    "description": "what",
    "quantity": "many",
    "unit_amount_cents": "each",
    "tax_rate_id": "rate",
}
Lines = list[dict[str, str]]


class InvoiceForm(PostalAddressForm):
    """`lines` as they were typed; the inputs of the first are `what-1`, `many-1` and `each-1`.

    A due day is one of `zone`; the one that `due_at` falls on keeps its hour.
    """

    hidden = (form_keys.NAME,)
    inputs = {
        "customer_id": "email",
        "name": "customer_name",
        "address": "line1",
        "due_at": "due",
        "discount_value": "discount",
        "tax_rate_bps": "tax",
        "tax_rate_id": "tax_rate",
    }

    def __init__(
        self,
        typed: Mapping[str, str],
        lines: Lines,
        zone: tzinfo,
        due_at: datetime | None = None,
    ) -> None:
        self.lines = lines
        self.zone = zone
        self.due_at = due_at
        inputs = [f"{name}-{n}" for n in range(1, len(lines) + 1) for name in _NEW_LINE]
        more = ("description", "notes", "footer", "po_number", "custom_number", "buyer_reference")
        self.names = (
            "email",
            "customer_name",
            *ADDRESS,
            "currency",
            "due",
            *inputs,
            *more,
            "discount",
            "discount_type",
            "tax",
            "tax_rate",
            "supplied_from",
            "supplied_until",
        )
        super().__init__(typed)

    @classmethod
    def posted(cls, request: PageRequest, invoice: Invoice | None = None) -> Self:
        """Posted values, with lines added or one removed as a button said. Lines in which nothing
        was typed are left out."""
        columns = [
            request.POST.getlist(name)
            for name in ("line_description", "line_quantity", "line_amount", "line_rate")
        ]
        typed = [
            {
                "what": description.strip()[:600],
                "many": many.strip()[:20],
                "each": each.strip()[:20],
                "rate": rate.strip()[:100],
            }
            for description, many, each, rate in zip_longest(*columns, fillvalue="")
        ]
        lines = [line for line in typed[: LINES_MAX + 1] if line["what"] or line["each"]]
        less = request.POST.get("less", "")
        if less.isascii() and less.isdigit() and len(less) < 4:
            lines = [line for n, line in enumerate(lines) if n != int(less)]
        more = ROWS if "more" in request.POST else 0
        return cls(
            request.POST.dict(),
            _padded(lines, more),
            zone_named(request.access.store.time_zone) if invoice is None else invoice.zone,
            None if invoice is None else invoice.due_at,
        )

    @classmethod
    def of(cls, invoice: Invoice) -> Self:
        """A draft as it is."""
        lines = [
            {
                "what": line.description,
                "many": str(line.quantity),
                "each": money.text_from_cents(line.unit_amount_cents),
                "rate": str(line.tax_rate_id or ""),
            }
            for line in invoice.lines.all()
        ]
        return cls(_shown(invoice), _padded(lines, 0), invoice.zone, invoice.due_at)

    def request(self, customer: Customer) -> InvoiceRequest:
        """Raises Invalid."""
        return InvoiceRequest.read({"customer_id": str(customer.pk), **self._fields()})

    def changes(self) -> InvoiceChanges:
        """Raises Invalid."""
        return InvoiceChanges.read(self._fields())

    def _fields(self) -> dict[str, object]:
        written = [line for line in self.lines if line["what"] or line["each"]]
        fields: dict[str, object] = {
            **self.filled(*_TEXTS, "currency"),
            "line_items": [self._line(line, n) for n, line in enumerate(written)],
            "tax_rate_bps": percent_bps(self.values["tax"], "tax") if self.values["tax"] else None,
            **self.filled("supplied_from", "supplied_until"),
            **self._discount(),
        }
        # One that is chosen counts, whatever was typed before.
        fields["tax_rate_id"] = self.values["tax_rate"] or None
        if fields["tax_rate_id"]:
            fields["tax_rate_bps"] = None
        due = self.values["due"]
        if self.due_at is None or due != self._due_day(self.due_at):
            fields["due_at"] = last_second(due, "due", self.zone) if due else None
        return fields

    def _cents(self, text: str, name: str) -> int:
        currency = self.values["currency"]
        return cents_typed(text, name, currency if currency in Currency.values else "")

    def _line(self, typed: dict[str, str], position: int) -> dict[str, object]:
        name = f"line_items[{position}]"
        return {
            "description": typed["what"],
            "quantity": whole_typed(typed["many"] or "1", f"{name}.quantity"),
            "unit_amount_cents": self._cents(typed["each"], f"{name}.unit_amount_cents"),
            "tax_rate_id": typed["rate"] or None,
        }

    def _due_day(self, at: datetime) -> str:
        return at.astimezone(self.zone).date().isoformat()

    def _discount(self) -> dict[str, object]:
        currency = self.values["currency"]
        chosen = currency if currency in Currency.values else ""
        return discount_typed(self.values["discount_type"], self.values["discount"], chosen)

    def input_of(self, field: str) -> str:
        name, position, inner = parts_of(field)
        if name == "line_items" and inner:
            return f"{_INPUTS[inner]}-{position + 1}"
        return super().input_of(field)

    @property
    def rows(self) -> list[dict[str, str]]:
        """Each line with the names of its inputs."""
        numbered = enumerate(self.lines, start=1)
        return [
            {**line, **{f"{name}_input": f"{name}-{n}" for name in _NEW_LINE}}
            for n, line in numbered
        ]

    @property
    def sentences(self) -> list[str]:
        """Everything that is wrong."""
        return [sentence for sentences in self.errors.values() for sentence in sentences]


def create(request: PageRequest) -> HttpResponse:
    access = request.access
    if request.method == "GET":
        due = access.now() + timedelta(days=InvoiceSettings.of(access.store).invoice_due_days)
        zone = zone_named(access.store.time_zone)
        usual = {
            "currency": access.store.settlement_currency,
            "due": due.astimezone(zone).date().isoformat(),
            **form_keys.new(),
        }
        usual["email"] = email_of(access, request.GET.get("customer", ""))
        return _form(request, InvoiceForm(usual, _padded([], 0), zone))
    form = InvoiceForm.posted(request)
    if "save" not in request.POST and ADD not in request.POST:
        return _counted(request, form)
    is_adding = ADD in request.POST
    try:
        key = form_keys.of(form.values)
        customer = customer_named(access, form, is_adding=is_adding)
        invoice = create_invoice(access, form.request(customer), form_key=key)
    except Refusals as refusal:
        is_new = may_add(access, form.values["email"], refusal, is_adding=is_adding)
        return _form(request, form.refuse(refusal), is_new=is_new)
    messages.success(
        request, gettext("Draft saved. Your customer can’t see it until you finalize it.")
    )
    return go("invoice", invoice.pk)


def edit(request: PageRequest, id: str) -> HttpResponse:
    invoice = find_invoice(request, id)
    if invoice.status != DRAFT:
        messages.error(request, " ".join(sentences(OnlyDraftsEdited())))
        return go("invoice", invoice.pk)
    if request.method == "GET":
        return _form(request, InvoiceForm.of(invoice), _totals_of(invoice), invoice=invoice)
    form = InvoiceForm.posted(request, invoice)
    if "save" not in request.POST:
        return _counted(request, form, invoice)
    try:
        update_invoice(request.access, invoice, form.changes())
    except Refusals as refusal:
        return _form(request, form.refuse(refusal), invoice=invoice)
    messages.success(request, gettext("Draft saved."))
    return go("invoice", invoice.pk)


@dataclass(frozen=True)
class ShownTotals:
    """The totals with what is charged by each rate, and the case that decided, in words."""

    totals: Totals
    taxes: list[InvoiceTax]
    case: str


def _totals_of(invoice: Invoice) -> ShownTotals:
    totals = Totals(invoice.subtotal_cents, invoice.discount_cents, invoice.tax_cents)
    return ShownTotals(totals, invoice.charged_taxes, case_words(invoice.tax_case))


def _totals_of_draft(charged: Charged) -> ShownTotals:
    taxes = taxes_of(Invoice(), charged.figures.groups)
    return ShownTotals(charged.figures.totals, taxes, case_words(charged.choice.case))


def _counted(
    request: PageRequest, form: InvoiceForm, invoice: Invoice | None = None
) -> HttpResponse:
    """The form again with its totals, nothing saved. A part for HTMX is the totals alone."""
    totals = None
    email = form.values["email"]
    customer = (
        invoice.customer
        if invoice is not None
        else customer_with_email(request.access, email)
        if email
        else None
    )
    try:
        totals = _totals_of_draft(preview(request.access, form.changes(), customer))
    except Refusals as refusal:
        form.refuse(refusal).status = 200
    if is_htmx(request):
        context = {
            "calculation": totals,
            "totals": totals and totals.totals,
            "currency": form.values["currency"],
            "errors": form.sentences,
            "is_counted": True,
        }
        return show(request, "dashboard/invoices/_totals.html", context)
    return _form(request, form, totals, invoice=invoice)


def _padded(lines: Lines, more: int) -> Lines:
    """With empty lines to type in."""
    return [*lines, *(_NEW_LINE for _ in range(max(more, ROWS - len(lines), 0)))]


def _rates(request: PageRequest, form: InvoiceForm) -> list[tuple[str, str]]:
    """Active rates, and those that the draft has."""
    used = (form.values["tax_rate"], *(line["rate"] for line in form.lines))
    return rates_to_choose(request.access, *used)


def _shown(invoice: Invoice) -> dict[str, str]:
    return {
        "email": invoice.customer.email,
        "currency": invoice.currency,
        **discount_shown(invoice.discount_type, invoice.discount_value),
        "tax": ""
        if invoice.tax_rate_bps is None
        else money.percentage_from_bps(invoice.tax_rate_bps),
        "tax_rate": str(invoice.tax_rate_id or ""),
        "supplied_from": invoice.supplied_from.isoformat() if invoice.supplied_from else "",
        "supplied_until": invoice.supplied_until.isoformat() if invoice.supplied_until else "",
        "due": invoice.due_day.isoformat() if invoice.due_day is not None else "",
        **{name: getattr(invoice, name) or "" for name in _TEXTS},
    }


def _form(
    request: PageRequest,
    form: InvoiceForm,
    totals: ShownTotals | None = None,
    *,
    invoice: Invoice | None = None,
    is_new: bool = False,
) -> HttpResponse:
    context = {
        "form": form,
        "calculation": totals,
        "totals": totals and totals.totals,
        "rates": _rates(request, form),
        "currency": form.values["currency"],
        "errors": form.common_errors,
        "is_new": is_new,
        "says_more": any(form.values[name] for name in _TEXTS),
        "invoice": invoice,
        "currencies": Currency.choices,
        "emails": []
        if invoice
        else list(active_customers(request.access).values_list("email", flat=True)[:EMAILS_MAX]),
    }
    return show(request, "dashboard/invoices/form.html", context, status=form.status)
