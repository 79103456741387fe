"""The invoice of an intent as PDF: who is paid, for what, how much, to which addresses, and what
has arrived.

It renders in every status and says in words whether it is paid. A merchant's image address is never
fetched.
"""

import base64
from collections.abc import Sequence
from datetime import UTC

from django.conf import settings
from django.template.loader import render_to_string
from django.utils import timezone, translation
from django.utils.translation import gettext, gettext_noop

from apps.core import money
from apps.core.documents import drawings
from apps.core.rows import Job
from apps.core.text import regions
from apps.core.text.countries import country_name
from apps.payments.documents.detail import detail
from apps.payments.documents.order import order_of
from apps.payments.documents.progress import progress_of
from apps.payments.models import Payment
from apps.payments.selectors import Received
from apps.payments.snapshot import snapshot_of
from apps.stores.branding import colour, read_logo

AHEAD = Job("documents.prepare_payments")
# What it says at the top, by status. A processing or refunded intent is distinguished by what came
# in and went back.
WORDS = {
    Payment.Status.PENDING: gettext_noop("Not paid"),
    Payment.Status.COMPLETED: gettext_noop("Paid"),
    Payment.Status.EXPIRED: gettext_noop("Not paid, expired"),
    Payment.Status.FAILED: gettext_noop("Not paid, returned"),
}


def invoice_name(payment: Payment) -> str:
    return f"invoice-{payment.reference}.pdf"


def invoice_pdf(payment: Payment) -> bytes:
    """Raises NotDrawn."""
    return drawings.pdf_of(_page(payment), owner=payment.store_id)


def prepare_pdfs(payment_ids: Sequence[str]) -> int:
    """Have those of these intents drawn before anybody asks; how many there were."""
    rows = Payment.objects.filter(pk__in=payment_ids).select_related("store")
    return AHEAD.walk(
        rows, lambda payment: drawings.prepare(_page(payment), owner=payment.store_id)
    )


def _page(payment: Payment) -> str:
    # Of nobody's zone and form, in the language that the store writes to its customers: anyone who
    # asks, the file is the same.
    language = payment.store.customer_language or settings.LANGUAGE_CODE
    with timezone.override(UTC), regions.shown_in(""), translation.override(language):
        return render_to_string("pdf/invoice.html", _context(payment))


def _context(payment: Payment) -> dict[str, object]:
    snapshot = snapshot_of(payment)
    store = payment.store
    received = snapshot.received
    document = detail(snapshot)
    refunded = document.financials.refunded_amount if document.financials is not None else "0"
    return {
        "payment": payment,
        "is_live": payment.is_live,
        "document": document,
        "words": _words(payment, received),
        "is_paid": payment.status == Payment.Status.COMPLETED,
        "merchant": store.brand_name or store.name,
        "legal": document.merchant,
        "country_name": country_name(document.merchant.country or ""),
        "logo": _logo(payment),
        "colour": colour(store.primary_color) or "#0a6b4c",
        "is_service_shown": not store.remove_service_branding,
        "order": order_of(payment),
        "paid_cents": progress_of(payment, received, _confirmed).received_cents,
        "refunded_cents": money.cents_from_text(refunded),
        "addresses": document.payment_addresses,
        "transactions": [
            transaction
            for transaction in document.transactions
            if transaction.accepted_at or not transaction.unexpected_asset
        ],
    }


def _confirmed(intake: Received) -> int:
    return intake.of_price_atomic(intake.confirmed_atomic)


def _logo(payment: Payment) -> str:
    """The logo as a part of the document; only the one that we have drawn ourselves."""
    drawn = read_logo(payment.store)
    return f"data:image/png;base64,{base64.b64encode(drawn).decode()}" if drawn else ""


def _words(payment: Payment, received: list[Received]) -> str:
    if payment.status == Payment.Status.REFUNDED:
        return (
            gettext("Partially refunded")
            if payment.refund_state == Payment.RefundState.PARTIAL
            else gettext("Refunded")
        )
    if payment.status == Payment.Status.PROCESSING:
        return (
            gettext("Not yet confirmed")
            if any(intake.unconfirmed_atomic for intake in received)
            else gettext("Partly paid")
        )
    return gettext(WORDS[Payment.Status(payment.status)])
