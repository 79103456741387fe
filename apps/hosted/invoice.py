"""The hosted invoice: what a customer owes, one way to pay it, and, once it is paid, the receipt.

The token is the only key. Starting a payment makes the one payable intent or returns it; its
checkout is inside the page.
"""

from collections.abc import Callable
from datetime import datetime

from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.utils.translation import get_language
from django.views.decorators.http import require_POST, require_safe

from apps.billing.documents.invoices import HostedInvoice, hosted_invoice
from apps.billing.e_invoices.formats import FACTUR_X, FORMATS
from apps.billing.invoices import credit_notes, e_invoice, files, seller_buyer
from apps.billing.invoices.confirming import covers
from apps.billing.invoices.payment_intents import (
    PAYABLE,
    InvoiceNotFound,
    shown_payment,
    start_payment,
)
from apps.billing.models import CreditNote, Invoice
from apps.billing.numbers import formatted_number
from apps.billing.selectors import by_token, read_parts
from apps.billing.services import emails
from apps.billing.states import OPEN, PAID
from apps.core import clock
from apps.core.db.outage import unavailable
from apps.core.documents.drawings import NotDrawn
from apps.core.errors import Failure
from apps.core.web.forms import sentences
from apps.hosted import languages
from apps.hosted.brand import brand_of, sheet
from apps.hosted.cards import card_of
from apps.hosted.checkout import (
    back_from_simulating,
    checkout_context,
    is_part,
    remember_code,
    simulated,
)
from apps.hosted.plumbing import Context, public_page
from apps.hosted.stages import is_late, waiting_for_merchant
from apps.payments import states
from apps.payments.documents.checkout import checkout_facts
from apps.payments.lost_coins import lost_coins_of
from apps.payments.models import Payment
from apps.stores.staff.suspensions import Suspension, is_suspended

PAYING = "paying"
ASKING = "asking"
RECEIPT = "receipt"
CLOSED = "closed"


@require_safe
@public_page("checkout")
def show(request: HttpRequest, reference: str) -> HttpResponse:
    return _page(request, reference)


@require_POST
@public_page("checkout")
def pay(request: HttpRequest, reference: str) -> HttpResponse:
    """The one button: makes something to pay, or finds it, and shows it in the page."""
    try:
        start_payment(reference)
    except InvoiceNotFound:
        raise Http404 from None
    except Failure as failure:
        return _page(request, reference, problem=" ".join(sentences(failure)), status=422)
    return HttpResponseRedirect(request.path.removesuffix("/pay"), status=303)


@require_POST
@public_page("checkout")
def simulate(request: HttpRequest, reference: str) -> HttpResponse:
    """A button of the test panel."""
    payment = shown_payment(_invoice(reference))
    if payment is None:
        raise Http404
    problem = simulated(request, payment)
    return (
        _page(request, reference, problem=problem, status=422)
        if problem
        else back_from_simulating(request)
    )


@require_POST
@public_page("checkout")
def ask_for_portal(request: HttpRequest, reference: str) -> HttpResponse:
    """The link to everything of this customer goes to their mailbox only: anyone who holds an
    invoice may have been passed it."""
    emails.portal_link(_invoice(reference).customer)
    return HttpResponseRedirect(f"{request.path.removesuffix('/portal')}?sent=1", status=303)


@require_safe
@public_page("checkout")
def brand_style(request: HttpRequest, reference: str) -> HttpResponse:
    return sheet(_invoice(reference).store)


@require_safe
@public_page("checkout", renders="pdf")
def invoice_pdf(request: HttpRequest, reference: str) -> HttpResponse:
    return _file(request, files.invoice_pdf, "invoice", _current(reference)[0])


@require_safe
@public_page("checkout", renders="pdf")
def receipt_pdf(request: HttpRequest, reference: str) -> HttpResponse:
    """404 until something was paid."""
    invoice, _ = _current(reference)
    if not files.has_receipt(invoice):
        raise Http404
    return _file(request, files.receipt_pdf, "receipt", invoice)


@require_safe
@public_page("checkout")
def invoice_data(request: HttpRequest, reference: str) -> HttpResponse:
    """The e-invoice alone, as XML in the `format` that is asked for; 404 when something is missing
    for one."""
    invoice, _ = _current(reference)
    key = request.GET.get("format", FACTUR_X.key)
    content = e_invoice.e_invoice_xml(invoice, key) if key in FORMATS else None
    if content is None:
        raise Http404
    headers = {
        "Content-Disposition": (
            f'attachment; filename="{files.file_name("invoice", invoice, "xml")}"'
        )
    }
    return HttpResponse(content, content_type="application/xml", headers=headers)


@require_safe
@public_page("checkout", renders="pdf")
def credit_note_pdf(request: HttpRequest, reference: str, number: str) -> HttpResponse:
    """404 for one that isn't of this invoice."""
    note = _credit_note(reference, number)
    languages.speak_to(request, note.invoice.customer)
    name = files.credit_note_file_name(note, "pdf")
    try:
        content = files.credit_note_pdf(note, get_language() or "")
    except NotDrawn as refusal:
        return unavailable(request, str(refusal.retry_after))
    return _attached(content, "application/pdf", name)


@require_safe
@public_page("checkout")
def credit_note_data(request: HttpRequest, reference: str, number: str) -> HttpResponse:
    """The credit note as XML in the `format` that is asked for; 404 when something is missing."""
    note = _credit_note(reference, number)
    key = request.GET.get("format", FACTUR_X.key)
    content = e_invoice.credit_note_xml(note, key) if key in FORMATS else None
    if content is None:
        raise Http404
    return _attached(content, "application/xml", files.credit_note_file_name(note))


def _credit_note(token: str, number: str) -> CreditNote:
    note = credit_notes.of_invoice(_invoice(token), int(number))
    if note is None:
        raise Http404
    return note


def _attached(content: bytes, content_type: str, name: str) -> HttpResponse:
    headers = {"Content-Disposition": f'attachment; filename="{name}"'}
    return HttpResponse(content, content_type=content_type, headers=headers)


def _file(
    request: HttpRequest, render: Callable[[Invoice, str], bytes], kind: str, invoice: Invoice
) -> HttpResponse:
    headers = {"Content-Disposition": f'attachment; filename="{files.file_name(kind, invoice)}"'}
    languages.speak_to(request, invoice.customer)
    language = get_language() or ""  # the file says what the page said
    try:
        return HttpResponse(
            render(invoice, language), content_type="application/pdf", headers=headers
        )
    except NotDrawn as refusal:
        return unavailable(request, str(refusal.retry_after))


def _invoice(token: str) -> Invoice:
    invoice = by_token(token)
    if invoice is None:
        raise Http404
    return invoice


def _current(token: str) -> tuple[Invoice, Payment | None]:
    """The invoice with what its intents have brought until now, and the latest of them."""
    invoice = _invoice(token)
    payment = shown_payment(invoice)
    return read_parts(invoice if payment is None else _invoice(token)), payment


def _page(
    request: HttpRequest, token: str, *, problem: str = "", status: int = 200
) -> HttpResponse:
    invoice, payment = _current(token)
    path = f"/invoice/{token}"
    languages.speak_to(request, invoice.customer)
    stage = _stage_of(invoice, payment)
    if stage == PAYING and payment is not None and request.GET.get("pay") == "card":
        return HttpResponseRedirect(f"/pay/{payment.reference}?pay=card")
    context = _context(invoice, payment, stage) | {
        "path": path,
        "problem": problem,
        "framing": {"origin": ""},
    }
    if stage == PAYING and payment is not None:
        card = card_of(request, payment)
        context |= checkout_context(
            request, payment, card, path, card_path=f"/pay/{payment.reference}"
        )
    context["was_portal_sent"] = request.GET.get("sent") == "1"
    response = render(
        request,
        "hosted/invoice/_page.html" if is_part(request) else "hosted/invoice/page.html",
        context,
        status=status,
    )
    # Without any referrer the browser would hide the origin of the page's forms, which then look
    # forged.
    response["Referrer-Policy"] = "same-origin"
    remember_code(request, response)
    return response


def _stage_of(invoice: Invoice, payment: Payment | None) -> str:
    """Money that is on its way is followed whatever became of the invoice; a payment is only asked
    for while it is open."""
    if payment is not None and payment.status == states.PROCESSING:
        return PAYING
    if invoice.status == PAID:
        return RECEIPT
    if invoice.status != OPEN or invoice.store.deleted_at is not None:
        return CLOSED
    return PAYING if payment is not None and payment.status in PAYABLE else ASKING


def _context(invoice: Invoice, payment: Payment | None, stage: str) -> Context:
    now = clock.now(invoice.store, invoice.mode)
    document = hosted_invoice(invoice)
    last = checkout_facts(payment, now) if payment is not None and stage == ASKING else None
    is_confirming = payment is not None and covers(payment, invoice)
    seller = seller_buyer.seller_of(invoice)
    return brand_of(invoice.store) | {
        "invoice": document,
        "number": formatted_number(invoice),
        "invoice_stage": stage,
        "stage": stage,
        "state": "confirming" if is_confirming else _state(invoice, document, now),
        "left_cents": invoice.left_cents,
        "is_part_paid": 0 < invoice.amount_paid_cents < invoice.total_cents,
        "sent_cents": invoice.sent_cents,
        "refunded_cents": invoice.refunded_cents,
        "credit_notes": credit_notes.shown_of(invoice) if invoice.status != OPEN else [],
        "issued_at": invoice.finalized_at,
        "supplied_from": invoice.supplied_from,
        "supplied_until": invoice.supplied_until,
        "zone": invoice.zone,
        "paid_at": invoice.paid_at,
        "seller": seller,
        "buyer": seller_buyer.buyer_of(invoice),
        "received": files.received(invoice, now) if payment is not None else [],
        "last": last,
        "lost": lost_coins_of(payment) if payment is not None and last is not None else None,
        "is_late": last is not None and is_late(last),
        "is_undecided": last is not None and bool(waiting_for_merchant(last)),
        "taxes": files.shown_taxes(invoice),
        "discount_percent": (
            invoice.discount_value
            if invoice.discount_type == Invoice.DiscountType.PERCENT
            else None
        ),
        "is_suspended": stage == ASKING and is_suspended(invoice.store, Suspension.PAYMENTS),
        "has_portal": invoice.customer.deleted_at is None,
        "has_receipt": files.has_receipt(invoice),
        "has_data": not e_invoice.refusal(invoice, e_invoice.Seller(seller)),
        "more_formats": e_invoice.further_formats(invoice, e_invoice.Seller(seller)),
    }


def _state(invoice: Invoice, document: HostedInvoice, now: datetime) -> str:
    """The status in the customer's words; see the badges."""
    if invoice.is_past_due(now):
        return "past_due"
    if invoice.status == OPEN and document.amount_paid_cents:
        return "part_paid"
    return invoice.status
