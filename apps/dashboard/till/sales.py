"""A sale at the point of sale: what the customer scans, what becomes of the payment, and the day's
sales."""

from urllib.parse import urlencode

from django.contrib import messages
from django.http import HttpResponse
from django.utils.translation import gettext, gettext_noop

from apps.core.messages.fields import is_uuid
from apps.core.web.forms import Form, sentences
from apps.core.web.refusals import status_of
from apps.dashboard.site.views import PageRequest, Refusals, find, go, is_htmx, show
from apps.dashboard.tables.days import begin, end, today, zone_of_books
from apps.dashboard.till.charging import name_of
from apps.links.models import Sale
from apps.links.sale_documents import (
    amount_of,
    display_url,
    sale_url,
    state_of_sale,
    tip_choices,
    total_cents,
    vat_parts,
)
from apps.links.services.sales import answer_tip, cancel_sale, payment_of, quote_again
from apps.links.till_selectors import SALES_SHOWN, day_totals, last_sales, sales_visible_to, till_of
from apps.payments.documents.checkout import CheckoutAddress, CheckoutFacts, checkout_facts
from apps.payments.documents.parts import hosted_url
from apps.payments.documents.progress import progress_of
from apps.payments.documents.sightings import seen_for
from apps.payments.models import Payment
from apps.payments.selectors import Received, received_by
from apps.payments.services.cancel import is_cancelable
from apps.payments.services.receipts import email_receipt
from apps.payments.services.renew import is_renewable


def _sale(request: PageRequest, id: str) -> Sale:
    sale: Sale = find(sales_visible_to(request.access), id)
    return sale


def show_one(request: PageRequest, id: str) -> HttpResponse:
    """Looked at again while it can change. The address of a payment leads to its sale."""
    by_payment = sales_visible_to(request.access).filter(payment__pk=id) if is_uuid(id) else None
    other = by_payment.first() if by_payment is not None else None
    if other is not None:
        return go("till_sale", other.pk)
    return _page(request, _sale(request, id))


def _page(
    request: PageRequest,
    sale: Sale,
    *,
    problem: str = "",
    receipt: Form | None = None,
    status: int = 200,
) -> HttpResponse:
    payment = payment_of(sale)
    now = request.access.now()
    state = state_of_sale(sale, now)
    context = {
        "sale": sale,
        "state": state,
        "is_waiting": state in ("tip", "pending", "processing"),
        "tips": tip_choices(sale) if state == "tip" else [],
        "code": sale_url(sale),
        "display": display_url(sale),
        "total_cents": total_cents(sale),
        "lines": [(line, amount_of(line)) for line in sale.lines],
        "vat": vat_parts(sale.lines, sale.currency),
        "problem": problem,
        "receipt_form": receipt,
        "till_name": sale.till_name,
        "looked_at": now,
    }
    if payment is not None:
        received = received_by(payment)
        facts = checkout_facts(payment, now, received)
        context |= _of_payment(payment, facts, received, request.GET.get("asset", ""))
        context |= seen_for(received)
    is_part = is_htmx(request) and not request.headers.get("HX-History-Restore-Request")
    template = "dashboard/till/_sale.html" if is_part else "dashboard/till/sale.html"
    return show(request, template, context, status=status)


def _of_payment(
    payment: Payment, facts: CheckoutFacts, received: list[Received], asset_id: str
) -> dict[str, object]:
    url = hosted_url(payment)
    chosen = _chosen(facts, asset_id)
    return {
        "payment": payment,
        "facts": facts,
        "bill": progress_of(payment, received),
        "url": url,
        "chosen": chosen,
        "code": url if chosen is None else chosen.qr_text,
        "query": f"?{urlencode({'asset': chosen.asset.asset_id})}" if chosen is not None else "",
        "is_cancelable": is_cancelable(payment),
        "is_renewable": is_renewable(payment),
    }


def _chosen(facts: CheckoutFacts, asset_id: str) -> CheckoutAddress | None:
    """The coin that was chosen at the counter; none: the customer chooses on their own phone."""
    return next(
        (address for address in facts.payment_addresses if address.asset.asset_id == asset_id), None
    )


def tip(request: PageRequest, id: str) -> HttpResponse:
    """No tip: the customer wasn't asked, or has declined."""
    sale = _sale(request, id)
    try:
        answer_tip(request.access, sale, 0)
    except Refusals as refusal:
        return _refused(request, id, refusal)
    return go("till_sale", id)


def cancel(request: PageRequest, id: str) -> HttpResponse:
    try:
        cancel_sale(request.access, _sale(request, id))
    except Refusals as refusal:
        return _refused(request, id, refusal)
    return go("till_sale", id)


def quote(request: PageRequest, id: str) -> HttpResponse:
    """Shows the sale at the rates of now."""
    try:
        quote_again(_sale(request, id))
    except Refusals as refusal:
        return _refused(request, id, refusal)
    return go("till_sale", id)


def _refused(request: PageRequest, id: str, refusal: Exception) -> HttpResponse:
    problem = " ".join(sentences(refusal))
    return _page(request, _sale(request, id), problem=problem, status=status_of(refusal))


class ReceiptForm(Form):
    names = ("email",)
    labels = {"email": gettext_noop("The email address")}


def receipt(request: PageRequest, id: str) -> HttpResponse:
    """The receipt by email, as customers have it sent from their checkout."""
    sale = _sale(request, id)
    payment = payment_of(sale)
    form = ReceiptForm.from_post(request.POST)
    if payment is None:
        return go("till_sale", id)
    try:
        email_receipt(payment, form.values["email"])
    except Refusals as refusal:
        refused = form.refuse(refusal)
        return _page(request, sale, receipt=refused, status=refused.status)
    messages.success(request, gettext("The receipt is on its way."))
    return go("till_sale", id)


def index(request: PageRequest) -> HttpResponse:
    """The last sales, and what each till has taken today."""
    access = request.access
    zone = zone_of_books(access)
    day = today(access, zone)
    totals = day_totals(access, begin(day, zone), end(day, zone) or access.now())
    now = access.now()
    context = {
        "sales": [
            (sale, total_cents(sale), state_of_sale(sale, now)) for sale in last_sales(access)
        ],
        "totals": totals,
        "day": begin(day, zone),
        "zone": zone,
        "sales_max": SALES_SHOWN,
        "till_name": name_of(request, till_of(access.store)),
    }
    return show(request, "dashboard/till/sales.html", context)
