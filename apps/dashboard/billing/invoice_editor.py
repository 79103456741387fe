"""The editor of drafts: lines, discount, tax, due date and notes, with totals that the service counts, live or at a press of a button."""

from datetime import timedelta
from typing import Any

from django.contrib import messages
from django.http import HttpResponse

from apps.billing.models import Invoice
from apps.billing.selectors import active_customers
from apps.billing.services.fields import LINES_MAX
from apps.billing.services.invoice import OnlyDraftsEdited, create_invoice, preview_totals, update_invoice
from apps.billing.services.totals import Totals
from apps.billing.states import DRAFT
from apps.core import money
from apps.core.web import status_of
from apps.dashboard import form_keys
from apps.dashboard.billing.forms import ADD, cents, customer_named, email_of, end_of_day, kept, may_add, percent_bps, texts, told, whole
from apps.dashboard.billing.invoices import find_invoice
from apps.dashboard.plumbing import PageRequest, Refusals, go, is_htmx, sentences, show
from apps.stores.models import Currency

ROWS, EMAILS_MAX = 3, 500
_TEXTS = ("custom_number", "po_number", "description", "notes", "footer")
_FIELDS = ("email", "currency", "discount_type", "discount", "tax", "due", *_TEXTS)
Given = dict[str, str]
Lines = list[dict[str, str]]


def create(request: PageRequest) -> HttpResponse:
    if request.method == "GET":
        given = dict.fromkeys(_FIELDS, "") | {"currency": request.access.store.settlement_currency} | form_keys.new()
        given["email"] = email_of(request.access, request.GET.get("customer", ""))
        given["due"] = (request.access.now() + timedelta(days=request.access.store.invoice_due_days)).date().isoformat()
        return _form(request, given, _filled([]), None, [])
    given, lines = texts(request.POST, *_FIELDS, form_keys.NAME), _typed(request)
    if "save" not in request.POST and ADD not in request.POST:
        return _counted(request, given, lines, None)
    try:
        customer = customer_named(request.access, request.POST)
        body = {"customer_id": str(customer.pk), **_body(given, lines, None)}
        made = create_invoice(request.access, {"invoice": body}, form_keys.of(given))
    except Refusals as refusal:
        is_new = may_add(request.access, given["email"], refusal)
        return _form(request, given, _filled(lines), None, told(refusal), status_of(refusal), is_new=is_new)
    messages.success(request, "The draft is saved. Nobody sees it until you finalize it.")
    return go("invoice", made.pk)


def edit(request: PageRequest, id: str) -> HttpResponse:
    invoice = find_invoice(request, id)
    if invoice.status != DRAFT:
        messages.error(request, " ".join(sentences(OnlyDraftsEdited())))
        return go("invoice", invoice.pk)
    if request.method == "GET":
        return _form(request, _shown(invoice), _filled(_shown_lines(invoice)), _totals_of(invoice), [], invoice=invoice)
    given, lines = texts(request.POST, *_FIELDS), _typed(request)
    if "save" not in request.POST:
        return _counted(request, given, lines, invoice)
    try:
        update_invoice(request.access, invoice, {"invoice": _body(given, lines, invoice)})
    except Refusals as refusal:
        return _form(request, given, _filled(lines), None, told(refusal), status_of(refusal), invoice=invoice)
    messages.success(request, "The draft is saved.")
    return go("invoice", invoice.pk)


def _counted(request: PageRequest, given: Given, lines: Lines, invoice: Invoice | None) -> HttpResponse:
    """The form again, nothing saved: with its totals, one line more, or one line less. A part for HTMX is the totals alone."""
    less = request.POST.get("less", "")
    if less.isascii() and less.isdigit() and len(less) < 4:
        lines = [one for n, one in enumerate(lines) if n != int(less)]
    errors: list[str] = []
    totals = None
    try:
        totals = preview_totals({"invoice": _body(given, lines, invoice)})
    except Refusals as refusal:
        errors = told(refusal)
    if is_htmx(request):
        context = {"totals": totals, "currency": given["currency"], "errors": errors, "is_counted": True}
        return show(request, "dashboard/invoices/_totals.html", context)
    return _form(request, given, _filled(lines, ROWS if "more" in request.POST else 0), totals, errors, invoice=invoice)


def _typed(request: PageRequest) -> Lines:
    """The lines of the form in which something was typed."""
    posted = zip(*(request.POST.getlist(name) for name in ("line_description", "line_quantity", "line_amount")), strict=False)
    lines = [{"description": what.strip()[:600], "quantity": many.strip()[:20], "amount": each.strip()[:20]} for what, many, each in posted]
    return [one for one in lines[: LINES_MAX + 1] if one["description"] or one["amount"]]


def _filled(lines: Lines, more: int = 0) -> Lines:
    """With empty lines to type in."""
    empty = max(more, ROWS - len(lines), 0)
    return [*lines, *({"description": "", "quantity": "1", "amount": ""} for _ in range(empty))]


def _body(given: Given, lines: Lines, invoice: Invoice | None) -> dict[str, Any]:
    """The form as the service takes it. Raises Invalid. A due day that wasn't changed keeps its hour."""
    body: dict[str, Any] = {**kept(given, *_TEXTS), "currency": given["currency"] or None}
    body["line_items"] = [_line(one, n) for n, one in enumerate(lines)]
    if invoice is None or given["due"] != _due_day(invoice):
        body["due_at"] = end_of_day(given["due"], "due day") if given["due"] else None
    body["tax_rate_bps"] = percent_bps(given["tax"], "tax") if given["tax"] else None
    body["discount_type"] = (given["discount_type"] or None) if given["discount"] else None
    if given["discount"]:
        is_percent = given["discount_type"] == Invoice.DiscountType.PERCENT
        text = given["discount"].removesuffix("%").strip() if is_percent else given["discount"]
        body["discount_value"] = whole(text, "discount") if is_percent else cents(text, "discount")
    else:
        body["discount_value"] = None
    return body


def _line(one: dict[str, str], position: int) -> dict[str, Any]:
    return {
        "description": one["description"],
        "quantity": whole(one["quantity"] or "1", f"line {position + 1}: quantity"),
        "unit_amount_cents": cents(one["amount"], f"line {position + 1}: price"),
    }


def _due_day(invoice: Invoice) -> str:
    return invoice.due_at.date().isoformat() if invoice.due_at is not None else ""


def _shown(invoice: Invoice) -> Given:
    value, kind = invoice.discount_value, invoice.discount_type or ""
    is_amount = kind == Invoice.DiscountType.AMOUNT
    return {
        "email": invoice.customer.email,
        "currency": invoice.currency,
        "discount_type": kind,
        "discount": "" if value is None else money.text_from_cents(value) if is_amount else str(value),
        "tax": "" if invoice.tax_rate_bps is None else money.percentage_from_bps(invoice.tax_rate_bps),
        "due": _due_day(invoice),
        **{name: getattr(invoice, name) or "" for name in _TEXTS},
    }


def _shown_lines(invoice: Invoice) -> Lines:
    return [
        {"description": one.description, "quantity": str(one.quantity), "amount": money.text_from_cents(one.unit_amount_cents)}
        for one in invoice.lines.all()
    ]


def _totals_of(invoice: Invoice) -> Totals:
    return Totals(invoice.subtotal_cents, invoice.discount_cents, invoice.tax_cents)


def _form(
    request: PageRequest,
    given: Given,
    lines: Lines,
    totals: Totals | None,
    errors: list[str],
    status: int = 200,
    *,
    invoice: Invoice | None = None,
    is_new: bool = False,
) -> HttpResponse:
    context = {
        "given": given,
        "lines": lines,
        "totals": totals,
        "currency": given["currency"],
        "errors": errors,
        "is_new": is_new,
        "says_more": any(given[name] for name in _TEXTS),
        "invoice": invoice,
        "currencies": Currency.choices,
        "emails": [] if invoice else list(active_customers(request.access).values_list("email", flat=True)[:EMAILS_MAX]),
    }
    return show(request, "dashboard/invoices/form.html", context, status=status)
