"""Invoices: the list with its filters, one with everything that happened to it, and what can be
done to it, each on a page of its own."""

from collections.abc import Callable
from dataclasses import dataclass
from urllib.parse import urlencode

from django.contrib import messages
from django.db.models import QuerySet
from django.http import Http404, HttpResponse
from django.utils.translation import gettext, gettext_noop

from apps.access.access import Access
from apps.billing import selectors
from apps.billing.documents.invoices import hosted_url
from apps.billing.e_invoices.formats import FORMATS, EInvoiceFormat
from apps.billing.invoices import (
    confirming,
    credit_notes,
    delivering,
    drafts,
    e_invoice,
    files,
)
from apps.billing.invoices import lifecycle as states
from apps.billing.models import CreditNote, EInvoiceDelivery, Invoice
from apps.billing.numbers import formatted_number
from apps.billing.requests import CreditNoteRequest
from apps.billing.states import DRAFT, OPEN, OVERPAID
from apps.chain.networks.families import shown_address
from apps.core import searching
from apps.core.db.outage import unavailable
from apps.core.documents.drawings import NotDrawn
from apps.core.errors import Failure
from apps.core.messages.fields import is_uuid
from apps.core.text.wording import translated
from apps.core.web.forms import sentences
from apps.dashboard.billing import deliveries
from apps.dashboard.billing.acts import RecordAction, attempt, find_act
from apps.dashboard.billing.columns import INVOICES
from apps.dashboard.billing.forms import email_of
from apps.dashboard.billing.tax_words import case_words
from apps.dashboard.site.views import Answer, PageRequest, find, go, is_htmx, show
from apps.dashboard.tables.paging import window
from apps.payments.models import Payment
from apps.payments.selectors import received_by

_TABS = {
    "": gettext_noop("All"),
    "draft": gettext_noop("Drafts"),
    "open": gettext_noop("Open"),
    "past_due": gettext_noop("Past due"),
    "paid": gettext_noop("Paid"),
    "void": gettext_noop("Void"),
    "uncollectible": gettext_noop("Written off"),
}


@dataclass(frozen=True)
class InvoiceListFilters:
    """Filters in the list's address. What it can't mean is left out."""

    status: str = ""
    q: str = ""
    customer: str = ""
    subscription: str = ""

    @classmethod
    def of(cls, request: PageRequest) -> "InvoiceListFilters":
        values = {
            name: request.GET.get(name, "").strip()[:255]
            for name in ("status", "q", "customer", "subscription")
        }
        return cls(**{**values, "status": values["status"] if values["status"] in _TABS else ""})

    def parameters(self, **changes: str) -> dict[str, str]:
        values = {
            "status": self.status,
            "q": self.q,
            "customer": self.customer,
            "subscription": self.subscription,
            **changes,
        }
        return {name: value for name, value in values.items() if value}

    def rows(self, access: Access) -> "QuerySet[Invoice]":
        every = selectors.search_invoices(access, selectors.invoices_visible_to(access), self.q)
        if self.status == "past_due":
            every = selectors.past_due_invoices(every, access.now())
        return selectors.filtered_invoices(
            every,
            status=self.status,
            customer_id=self.customer or None,
            subscription_id=self.subscription or None,
        )


def index(request: PageRequest) -> HttpResponse:
    filters = InvoiceListFilters.of(request)
    page = window(filters.rows(request.access), request.GET, filters.parameters())
    context = {
        "table": INVOICES.table(request, page.rows, filters.parameters()),
        "window": page,
        "filters": filters,
        "subscription_id": filters.subscription if is_uuid(filters.subscription) else "",
        "of": email_of(request.access, filters.customer) if filters.customer else "",
        "tabs": [
            {
                "name": gettext(name),
                "query": urlencode(filters.parameters(status=value)),
                "is_current": value == filters.status,
            }
            for value, name in _TABS.items()
        ],
        "owed": selectors.owed(request.access, request.access.now()),
        "looked_through_max": searching.LOOKED_THROUGH_MAX,
        "now": request.access.now(),
        "is_empty": not page.rows and not filters.parameters() and "page" not in request.GET,
    }
    part = is_htmx(request) and not request.headers.get("HX-History-Restore-Request")
    return show(
        request,
        "dashboard/invoices/_rows.html" if part else "dashboard/invoices/list.html",
        context,
    )


def export(request: PageRequest) -> Answer:
    return INVOICES.csv(
        request, InvoiceListFilters.of(request).rows(request.access).prefetch_related(None)
    )


def find_invoice(request: PageRequest, id: str) -> Invoice:
    invoice: Invoice = find(selectors.invoices_visible_to(request.access), id)
    return invoice


def show_one(request: PageRequest, id: str) -> HttpResponse:
    invoice = find_invoice(request, id)
    missing = e_invoice.refusal(invoice)
    changes = list(invoice.changes.order_by("-id")[:100])
    formats = _formats(request.access, invoice)
    context = {
        "invoice": invoice,
        "name": formatted_number(invoice),
        "url": hosted_url(invoice),
        "has_file": invoice.number is not None,
        "has_receipt": files.has_receipt(invoice),
        "has_data": not missing,
        "missing": translated(missing),
        "tax_case": case_words(invoice.tax_case),
        "formats": formats,
        "lacks_kept": invoice.seller is not None and any(lacks for _, lacks in formats),
        "left_cents": invoice.left_cents,
        "paying": selectors.being_paid([invoice]),
        "payments": list(invoice.payments.select_related("payment").order_by("-id")[:20]),
        "payers": _payers(invoice) if invoice.needs_attention == OVERPAID else [],
        "credit_notes": credit_notes.shown_of(invoice),
        "deliverable_notes": deliveries.offered_notes(request.access, invoice),
        "has_credit_data": e_invoice.can_be_credit_note(invoice),
        "credit_left_cents": credit_notes.left_cents(invoice),
        "deliveries": deliveries.shown(invoice),
        "deliverable": deliveries.offered(invoice),
        "changes": changes,
        "was_sent": any(item.change == "sent" for item in changes),
        "acts": [name for name, item in ACTS.items() if item.is_offered(invoice)],
        "now": request.access.now(),
    }
    return show(request, "dashboard/invoices/detail.html", context)


def _formats(access: Access, invoice: Invoice) -> list[tuple[EInvoiceFormat, str]]:
    """Every format of e-invoices, and what the invoice, or the draft, lacks for it."""
    rows = e_invoice.formats_of(invoice, access.now())
    return [(item, translated(lacks)) for item, lacks in rows]


@dataclass(frozen=True)
class InvoicePayer:
    """The money that one payment brought, and the addresses that sent it."""

    payment: Payment
    cents: int
    addresses: list[str]


def _payers(invoice: Invoice) -> list[InvoicePayer]:
    """Payers of the invoice, the last one first."""
    links = reversed(selectors.payments_received(invoice))
    return [
        InvoicePayer(link.payment, link.brought_cents, _senders(link.payment)) for link in links
    ]


def _senders(payment: Payment) -> list[str]:
    deposits = [deposit for intake in received_by(payment) for deposit in intake.deposits]
    return sorted(
        {shown_address(deposit.from_address) for deposit in deposits if deposit.from_address}
    )


_FILES: dict[str, tuple[Callable[[Invoice], bytes | None], str, str, str]] = {
    "": (files.invoice_pdf, "invoice", "pdf", "application/pdf"),
    "receipt": (files.receipt_pdf, "receipt", "pdf", "application/pdf"),
    "data": (e_invoice.e_invoice_xml, "invoice", "xml", "application/xml"),
}


def download(request: PageRequest, id: str) -> HttpResponse:
    """The bill as PDF, the receipt, or the e-invoice as XML."""
    invoice = find_invoice(request, id)
    choice = request.GET.get("of", "")
    if choice == "network_receipt":
        return _network_receipt(invoice, request.GET.get("delivery", ""))
    if choice in ("credit_note", "credit_data"):
        return _credit_note(request, invoice, is_data=choice == "credit_data")
    make, kind, ending, content_type = _FILES.get(choice, _FILES[""])
    if invoice.number is None or (kind == "receipt" and not files.has_receipt(invoice)):
        raise Http404
    key = request.GET.get("format", "")
    try:
        if kind == "invoice" and ending == "xml" and key in FORMATS:
            content = e_invoice.e_invoice_xml(invoice, key)
        else:
            content = make(invoice)
    except NotDrawn as refusal:
        return unavailable(request, str(refusal.retry_after))
    if content is None:
        raise Http404
    name = files.file_name(kind, invoice, ending)
    return HttpResponse(
        content,
        content_type=content_type,
        headers={"Content-Disposition": f'attachment; filename="{name}"'},
    )


def _network_receipt(invoice: Invoice, id: str) -> HttpResponse:
    """A network's confirmation of the invoice, or of a credit note of it, as XML."""
    row: EInvoiceDelivery = find(invoice.deliveries.exclude(receipt=""), id)
    return HttpResponse(
        row.receipt,
        content_type="application/xml",
        headers={"Content-Disposition": f'attachment; filename="{row.number}.xml"'},
    )


def _credit_note(request: PageRequest, invoice: Invoice, *, is_data: bool) -> HttpResponse:
    """A credit note of the invoice as PDF or XML."""
    note = _note_of(request, invoice, request.GET.get("note", ""))
    try:
        content = e_invoice.credit_note_xml(note) if is_data else files.credit_note_pdf(note)
    except NotDrawn as refusal:
        return unavailable(request, str(refusal.retry_after))
    if content is None:
        raise Http404
    name = files.credit_note_file_name(note, "xml" if is_data else "pdf")
    return HttpResponse(
        content,
        content_type="application/xml" if is_data else "application/pdf",
        headers={"Content-Disposition": f'attachment; filename="{name}"'},
    )


def _note_of(request: PageRequest, invoice: Invoice, id: str) -> CreditNote:
    rows = credit_notes.credit_notes_visible_to(request.access).filter(invoice=invoice)
    note: CreditNote = find(rows, id)
    return note


def send_note(request: PageRequest, id: str) -> HttpResponse:
    """E-mail one of the invoice's credit notes to the customer."""
    invoice = find_invoice(request, id)
    credit_notes.send_credit_note(
        request.access, _note_of(request, invoice, request.POST.get("note", ""))
    )
    messages.success(request, gettext("The email is on its way."))
    return go("invoice", invoice.pk)


def deliver(request: PageRequest, id: str) -> HttpResponse:
    """Send the invoice, or one of its credit notes, through a network."""
    invoice = find_invoice(request, id)
    note_id = request.POST.get("note", "")
    note = _note_of(request, invoice, note_id) if note_id else None
    try:
        delivering.deliver(request.access, invoice, request.POST.get("network", ""), note)
    except Failure as refusal:
        messages.error(request, " ".join(sentences(refusal)))
    else:
        messages.success(request, gettext("The e-invoice is on its way."))
    return go("invoice", invoice.pk)


def _offered_in(*statuses: str) -> Callable[[Invoice], bool]:
    return lambda invoice: invoice.status in statuses


def _finalize(access: Access, invoice: Invoice, is_sent: bool) -> object:
    row = states.finalize_invoice(access, invoice)
    return states.send_invoice(access, row) if is_sent and row.status == OPEN else row


ACTS: dict[str, RecordAction[Invoice]] = {
    "finalize": RecordAction(
        gettext_noop("Finalize"),
        gettext_noop("Finalize invoice"),
        gettext_noop("Finalize invoice"),
        _offered_in(DRAFT),
        _finalize,
        gettext_noop("Invoice finalized. It can now be paid."),
    ),
    "send": RecordAction(
        gettext_noop("Send"),
        gettext_noop("Send invoice"),
        gettext_noop("Send email"),
        _offered_in(OPEN),
        lambda access, row, _: states.send_invoice(access, row),
        gettext_noop("The email is on its way."),
    ),
    "void": RecordAction(
        gettext_noop("Void invoice"),
        gettext_noop("Void invoice"),
        gettext_noop("Void invoice"),
        _offered_in(DRAFT, OPEN),
        lambda access, row, _: states.void_invoice(access, row),
        gettext_noop("Invoice voided."),
    ),
    "write-off": RecordAction(
        gettext_noop("Write off"),
        gettext_noop("Write off invoice"),
        gettext_noop("Write off invoice"),
        _offered_in(OPEN),
        lambda access, row, _: confirming.write_off(access, row),
        gettext_noop("Invoice written off."),
    ),
    "credit": RecordAction(
        gettext_noop("Create credit note"),
        gettext_noop("Create credit note"),
        gettext_noop("Create credit note"),
        lambda row: row.number is not None and row.status in credit_notes.CLOSED,
        lambda access, row, _: credit_notes.create_credit_note(access, row, CreditNoteRequest()),
        gettext_noop("Credit note created."),
    ),
    "delete": RecordAction(
        gettext_noop("Delete"),
        gettext_noop("Delete invoice"),
        gettext_noop("Delete draft"),
        _offered_in(DRAFT),
        lambda access, row, _: drafts.delete_invoice(row),
        gettext_noop("Draft deleted."),
    ),
}


def act(request: PageRequest, id: str, act: str) -> HttpResponse:
    """A page that says what will happen, then the act."""
    invoice = find_invoice(request, id)
    chosen = find_act(ACTS, act)
    is_to_send = request.POST.get("send") == "on"
    outcome = attempt(request, chosen, invoice, has_option=is_to_send)
    if outcome.is_done:
        was_sent = act == "finalize" and invoice.total_cents and is_to_send
        messages.success(
            request,
            f"{gettext(chosen.done)} {gettext('The email is on its way.')}"
            if was_sent
            else gettext(chosen.done),
        )
        return go("invoices") if act == "delete" else go("invoice", invoice.pk)
    missing = e_invoice.missing_of_verified(invoice) if act == "finalize" else ""
    context = {
        "invoice": invoice,
        "name": formatted_number(invoice),
        "act": act,
        "chosen": chosen.translated,
        "is_danger": act not in ("finalize", "send"),
        "errors": outcome.errors,
        "missing": translated(missing),
        "formats": _formats(request.access, invoice) if act == "finalize" and not missing else [],
        "credit_left_cents": credit_notes.left_cents(invoice) if act == "credit" else 0,
    }
    return show(request, "dashboard/invoices/act.html", context, status=outcome.status)
