"""An invoice and its receipt as PDF: who bills whom, for what, what was paid and by which transactions.

Both follow the state the invoice is in when they are made, and say it in words. No image address is ever fetched.
"""

import base64
import re
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from django.template.loader import render_to_string

from apps.billing.documents import formatted_number, hosted_url
from apps.billing.models import Invoice
from apps.billing.selectors import payments_received
from apps.billing.states import OPEN, PAID, UNCOLLECTIBLE, VOID
from apps.core import clock, pdf
from apps.payments.documents.checkout import checkout_document
from apps.stores.branding import colour, read_logo
from apps.stores.selectors import approved_verification

_NAME = re.compile(r"[^A-Za-z0-9._-]+")
# The usual parts of a postal address in the order they are written; what else there is follows.
_ADDRESS_ORDER = (
    *("company", "care_of", "line1", "line2", "line3", "street", "street1", "street2", "address", "address1", "address2"),
    *("postal_code", "postcode", "zip", "city", "town", "region", "state", "province", "country"),
)
_ADDRESS_LINES_MAX = 12
_POSTAL_CODES, _TOWNS = ("postal_code", "postcode", "zip"), ("city", "town")
_WORDS = {PAID: "Paid", VOID: "Canceled", UNCOLLECTIBLE: "Closed, not paid"}


def invoice_pdf(invoice: Invoice) -> bytes:
    """The bill. Drafts have none."""
    return _render(invoice, is_receipt=False)


def receipt_pdf(invoice: Invoice) -> bytes:
    """Proof of what was paid; see has_receipt."""
    return _render(invoice, is_receipt=True)


def has_receipt(invoice: Invoice) -> bool:
    return invoice.amount_paid_cents > 0


def file_name(kind: str, invoice: Invoice) -> str:
    number = _NAME.sub("-", formatted_number(invoice) or "draft").strip("-.") or str(invoice.number)
    return f"{kind}-{number}.pdf"


def seller_of(invoice: Invoice) -> dict[str, Any]:
    """The store as a party; what stands in registers comes from its approved verification."""
    store, known = invoice.store, approved_verification(invoice.store)
    return {
        "name": (known.business_legal_name if known is not None else "") or store.name,
        "registration_number": known.registration_number if known is not None else "",
        "tax_id": known.tax_id if known is not None else "",
        "country": known.business_country if known is not None else "",
        "email": store.support_email,
    }


def buyer_of(invoice: Invoice) -> dict[str, Any]:
    customer = invoice.customer
    return {"name": customer.name or customer.email, "email": customer.email, "address": address_lines(customer.address)}


def address_lines(address: Mapping[str, Any] | None) -> list[str]:
    """The texts of an address of any shape, in the order people write them."""
    told = (address or {}).items()
    given = {key: str(value).strip() for key, value in told if isinstance(value, (str, int)) and not isinstance(value, bool)}
    code, town = (next((key for key in keys if given.get(key)), None) for keys in (_POSTAL_CODES, _TOWNS))
    if code is not None and town is not None:
        given[town] = f"{given.pop(code)} {given[town]}"
    known = [key for key in _ADDRESS_ORDER if key in given]
    ordered = [*known, *(key for key in given if key not in known)]
    return [given[key] for key in ordered if given[key]][:_ADDRESS_LINES_MAX]


def words_for(invoice: Invoice, now: datetime) -> str:
    """Whether it is paid, in words."""
    if invoice.status == OPEN:
        if invoice.due_at is not None and invoice.due_at < now:
            return "Past due"
        return "Partly paid" if invoice.amount_paid_cents else "Not paid"
    if invoice.status == PAID and invoice.refunded_cents:
        return "Paid, refunded" if invoice.refunded_cents >= invoice.amount_paid_cents else "Paid, partly refunded"
    return _WORDS[invoice.status]


def percent_text(bps: int) -> str:
    """1950 is 19.5."""
    return f"{bps // 100}.{bps % 100:02d}".rstrip("0").rstrip(".")


def _render(invoice: Invoice, *, is_receipt: bool) -> bytes:
    store, now = invoice.store, clock.now(invoice.store, invoice.mode)
    drawn = read_logo(store)
    context = {
        "invoice": invoice,
        "is_receipt": is_receipt,
        "number": formatted_number(invoice),
        "lines": invoice.lines.all(),
        "url": hosted_url(invoice),
        "words": words_for(invoice, now),
        "tax_percent": percent_text(invoice.tax_rate_bps or 0),
        "discount_percent": invoice.discount_value if invoice.discount_type == Invoice.DiscountType.PERCENT else None,
        "is_paid": invoice.status == PAID,
        "is_open": invoice.status == OPEN,
        "left_cents": invoice.total_cents - invoice.amount_paid_cents,
        "merchant": store.brand_name or store.name,
        "seller": seller_of(invoice),
        "buyer": buyer_of(invoice),
        "logo": f"data:image/png;base64,{base64.b64encode(drawn).decode()}" if drawn else "",
        "colour": colour(store.primary_color) or "#0a6b4c",
        "is_service_shown": not store.remove_service_branding,
        "received": received(invoice, now),
    }
    return pdf.render(render_to_string("pdf/billing_invoice.html", context))


def received(invoice: Invoice, now: datetime) -> list[dict[str, Any]]:
    """Every payment that counted, oldest first, with its transactions."""
    return [
        {
            "at": link.counted_at if link.counted_cents else link.late_seen_at,
            "amount_cents": link.counted_cents + link.late_cents,
            "reference": link.payment.reference,
            "transactions": checkout_document(link.payment, now)["transactions"],
        }
        for link in payments_received(invoice)
    ]
