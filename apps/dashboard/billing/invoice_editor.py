"""The editor of drafts: lines, discount, tax, due date and notes, with totals that the service
counts, live or at a press of a button."""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Self

from django.contrib import messages
from django.http import HttpResponse

from apps.billing.invoices.drafts import (
    OnlyDraftsEdited,
    create_invoice,
    preview_totals,
    update_invoice,
)
from apps.billing.invoices.totals import Totals
from apps.billing.models import Customer, Invoice, InvoiceSettings
from apps.billing.requests import LINES_MAX, InvoiceChanges, InvoiceRequest
from apps.billing.selectors import active_customers
from apps.billing.states import DRAFT
from apps.core import money
from apps.dashboard import form_keys
from apps.dashboard.billing.forms import (
    ADD,
    BillingForm,
    cents,
    customer_named,
    email_of,
    end_of_day,
    may_add,
    parts_of,
    percent_bps,
    whole,
)
from apps.dashboard.billing.invoices import find_invoice
from apps.dashboard.plumbing import PageRequest, Refusals, go, is_htmx, sentences, show
from apps.stores.models import Currency

ROWS = 3
EMAILS_MAX = 500
_TEXTS = ("custom_number", "po_number", "description", "notes", "footer")
_NEW_LINE = {"what": "", "many": "1", "each": ""}
# Which input of a line a field of it is typed into.
_INPUTS = {"description": "what", "quantity": "many", "unit_amount_cents": "each"}
Lines = list[dict[str, str]]


class InvoiceForm(BillingForm):
    """`lines` as they were typed; the inputs of the first are `what-1`, `many-1` and `each-1`.

    A due day that is the one `due_at` falls on keeps its hour.
    """

    hidden = (form_keys.NAME,)
    inputs = {
        "customer_id": "email",
        "name": "customer_name",
        "due_at": "due",
        "discount_value": "discount",
        "tax_rate_bps": "tax",
    }

    def __init__(
        self, typed: Mapping[str, str], lines: Lines, due_at: datetime | None = None
    ) -> None:
        self.lines = lines
        self.due_at = due_at
        inputs = [f"{name}-{n}" for n in range(1, len(lines) + 1) for name in _NEW_LINE]
        more = ("description", "notes", "footer", "po_number", "custom_number")
        self.names = (
            "email",
            "customer_name",
            "currency",
            "due",
            *inputs,
            *more,
            "discount",
            "discount_type",
            "tax",
        )
        super().__init__(typed)

    @classmethod
    def posted(cls, request: PageRequest, invoice: Invoice | None = None) -> Self:
        """What came in, with lines more or one less as a button said. Lines in which nothing was
        typed are left out."""
        columns = [
            request.POST.getlist(name)
            for name in ("line_description", "line_quantity", "line_amount")
        ]
        typed = [
            {
                "what": description.strip()[:600],
                "many": many.strip()[:20],
                "each": each.strip()[:20],
            }
            for description, many, each in zip(*columns, strict=False)
        ]
        lines = [line for line in typed[: LINES_MAX + 1] if line["what"] or line["each"]]
        less = request.POST.get("less", "")
        if less.isascii() and less.isdigit() and len(less) < 4:
            lines = [line for n, line in enumerate(lines) if n != int(less)]
        more = ROWS if "more" in request.POST else 0
        return cls(
            request.POST.dict(), _padded(lines, more), None if invoice is None else invoice.due_at
        )

    @classmethod
    def of(cls, invoice: Invoice) -> Self:
        """A draft as it is."""
        lines = [
            {
                "what": line.description,
                "many": str(line.quantity),
                "each": money.text_from_cents(line.unit_amount_cents),
            }
            for line in invoice.lines.all()
        ]
        return cls(_shown(invoice), _padded(lines, 0), invoice.due_at)

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
            "line_items": [_line(line, n) for n, line in enumerate(written)],
            "tax_rate_bps": percent_bps(self.values["tax"], "tax") if self.values["tax"] else None,
            **self._discount(),
        }
        due = self.values["due"]
        if self.due_at is None or due != self.due_at.date().isoformat():
            fields["due_at"] = end_of_day(due, "due") if due else None
        return fields

    def _discount(self) -> dict[str, object]:
        kind = self.values["discount_type"]
        text = self.values["discount"]
        if not text:
            return {"discount_type": None, "discount_value": None}
        if kind == Invoice.DiscountType.PERCENT:
            return {
                "discount_type": kind,
                "discount_value": whole(text.removesuffix("%").strip(), "discount"),
            }
        return {"discount_type": kind or None, "discount_value": cents(text, "discount")}

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
        usual = {
            "currency": access.store.settlement_currency,
            "due": due.date().isoformat(),
            **form_keys.new(),
        }
        usual["email"] = email_of(access, request.GET.get("customer", ""))
        return _form(request, InvoiceForm(usual, _padded([], 0)))
    form = InvoiceForm.posted(request)
    if "save" not in request.POST and ADD not in request.POST:
        return _counted(request, form)
    try:
        key = form_keys.of(form.values)
        customer = customer_named(access, form, is_adding=ADD in request.POST)
        invoice = create_invoice(access, form.request(customer), form_key=key)
    except Refusals as refusal:
        is_new = may_add(access, form.values["email"], refusal)
        return _form(request, form.refuse(refusal), is_new=is_new)
    messages.success(request, "Draft saved. Your customer can’t see it until you finalize it.")
    return go("invoice", invoice.pk)


def edit(request: PageRequest, id: str) -> HttpResponse:
    invoice = find_invoice(request, id)
    if invoice.status != DRAFT:
        messages.error(request, " ".join(sentences(OnlyDraftsEdited())))
        return go("invoice", invoice.pk)
    if request.method == "GET":
        totals = Totals(invoice.subtotal_cents, invoice.discount_cents, invoice.tax_cents)
        return _form(request, InvoiceForm.of(invoice), totals, invoice=invoice)
    form = InvoiceForm.posted(request, invoice)
    if "save" not in request.POST:
        return _counted(request, form, invoice)
    try:
        update_invoice(request.access, invoice, form.changes())
    except Refusals as refusal:
        return _form(request, form.refuse(refusal), invoice=invoice)
    messages.success(request, "Draft saved.")
    return go("invoice", invoice.pk)


def _counted(
    request: PageRequest, form: InvoiceForm, invoice: Invoice | None = None
) -> HttpResponse:
    """The form again with its totals, nothing saved. A part for HTMX is the totals alone."""
    totals = None
    try:
        totals = preview_totals(form.changes())
    except Refusals as refusal:
        form.refuse(refusal).status = 200
    if is_htmx(request):
        context = {
            "totals": totals,
            "currency": form.values["currency"],
            "errors": form.sentences,
            "is_counted": True,
        }
        return show(request, "dashboard/invoices/_totals.html", context)
    return _form(request, form, totals, invoice=invoice)


def _padded(lines: Lines, more: int) -> Lines:
    """With empty lines to type in."""
    return [*lines, *(_NEW_LINE for _ in range(max(more, ROWS - len(lines), 0)))]


def _line(typed: dict[str, str], position: int) -> dict[str, object]:
    name = f"line_items[{position}]"
    return {
        "description": typed["what"],
        "quantity": whole(typed["many"] or "1", f"{name}.quantity"),
        "unit_amount_cents": cents(typed["each"], f"{name}.unit_amount_cents"),
    }


def _shown(invoice: Invoice) -> dict[str, str]:
    value = invoice.discount_value
    kind = invoice.discount_type or ""
    is_amount = kind == Invoice.DiscountType.AMOUNT
    return {
        "email": invoice.customer.email,
        "currency": invoice.currency,
        "discount_type": kind,
        "discount": ""
        if value is None
        else money.text_from_cents(value)
        if is_amount
        else str(value),
        "tax": ""
        if invoice.tax_rate_bps is None
        else money.percentage_from_bps(invoice.tax_rate_bps),
        "due": invoice.due_at.date().isoformat() if invoice.due_at is not None else "",
        **{name: getattr(invoice, name) or "" for name in _TEXTS},
    }


def _form(
    request: PageRequest,
    form: InvoiceForm,
    totals: Totals | None = None,
    *,
    invoice: Invoice | None = None,
    is_new: bool = False,
) -> HttpResponse:
    context = {
        "form": form,
        "totals": totals,
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
