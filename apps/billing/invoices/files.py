"""An invoice and its receipt as PDF: who bills whom, for what, what was paid and by which
transactions.

Both follow the state the invoice is in when they are made, and say it in words. An invoice that can
be an e-invoice has the same as XML inside (Factur-X). No image address is ever fetched.
"""

import base64
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from django.conf import settings
from django.template.loader import render_to_string
from django.utils import timezone, translation
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from apps.billing.documents.invoices import hosted_url
from apps.billing.invoices import e_invoice
from apps.billing.invoices.seller_buyer import buyer_of, seller_of
from apps.billing.models import CreditNote, Invoice, InvoicePayment, InvoiceTax
from apps.billing.numbers import credit_note_number, formatted_number
from apps.billing.selectors import being_paid, payments_received
from apps.billing.services.languages import language_of
from apps.billing.states import OPEN, PAID, UNCOLLECTIBLE, VOID
from apps.core import clock
from apps.core.documents import drawings, pdf
from apps.core.documents.metadata import Vocabulary
from apps.core.rows import Job
from apps.core.text import regions
from apps.payments.documents.checkout import checkout_facts
from apps.stores.branding import colour, read_logo

AHEAD = Job("documents.prepare_invoices")
_NAME = re.compile(r"[^A-Za-z0-9._-]+")
_FACTUR_X = Vocabulary(
    title="Factur-X PDFA Extension Schema",
    namespace="urn:factur-x:pdfa:CrossIndustryDocument:invoice:1p0#",
    prefix="fx",
    words={
        "DocumentFileName": (e_invoice.FILE_NAME, "Text", "The name of the embedded XML document"),
        "DocumentType": ("INVOICE", "Text", "The type of the hybrid document in capital letters"),
        "Version": (
            "1.0",
            "Text",
            "The version of the standard that the embedded XML document follows",
        ),
        "ConformanceLevel": (e_invoice.PROFILE, "Text", "The profile of the embedded XML document"),
    },
)
_WORDS = {PAID: _("Paid"), VOID: _("Canceled"), UNCOLLECTIBLE: _("Closed, not paid")}


def invoice_pdf(invoice: Invoice, language: str = "") -> bytes:
    """The bill in the customer's language, with its data inside where it can be an e-invoice.
    Drafts have none."""
    return drawings.pdf_of(
        _page(invoice, is_receipt=False, language=language), _data(invoice), owner=invoice.store_id
    )


def prepare_pdfs(invoice_ids: Sequence[str]) -> int:
    """Have these bills drawn before anybody asks, and the receipts that there are; how many bills
    there were."""
    return AHEAD.walk(
        Invoice.objects.filter(pk__in=invoice_ids).select_related("store", "customer"), _prepare
    )


def _prepare(invoice: Invoice) -> None:
    drawings.prepare(_page(invoice, is_receipt=False), _data(invoice), owner=invoice.store_id)
    if has_receipt(invoice):
        drawings.prepare(_page(invoice, is_receipt=True), owner=invoice.store_id)


def _data(invoice: Invoice) -> pdf.EmbeddedFile | None:
    with translation.override(settings.LANGUAGE_CODE):  # data, the same for every reader
        xml = e_invoice.e_invoice_xml(invoice)
    if xml is None or invoice.finalized_at is None:
        return None
    return pdf.EmbeddedFile(
        e_invoice.FILE_NAME,
        xml,
        f"Invoice {formatted_number(invoice)} as data",
        invoice.finalized_at,
        _FACTUR_X,
    )


def receipt_pdf(invoice: Invoice, language: str = "") -> bytes:
    """Proof of what was paid; see has_receipt."""
    return drawings.pdf_of(
        _page(invoice, is_receipt=True, language=language), owner=invoice.store_id
    )


def credit_note_pdf(note: CreditNote, language: str = "") -> bytes:
    """The credit note in the customer's language, with its data inside where its invoice can be an
    e-invoice."""
    return drawings.pdf_of(
        _credit_note_page(note, language), _credit_note_data(note), owner=note.store_id
    )


def _credit_note_page(note: CreditNote, language: str) -> str:
    invoice = note.invoice
    with (
        timezone.override(note.zone),
        regions.shown_in(""),
        translation.override(language or language_of(invoice.customer)),
    ):
        context = _sides(invoice) | {
            "note": note,
            "invoice": invoice,
            "number": credit_note_number(note),
            "invoice_number": formatted_number(invoice),
            "billed_on": e_invoice.issued_on(invoice),
            "taxes": _credited_taxes(note),
        }
        return render_to_string("pdf/billing_credit_note.html", context)


def _credited_taxes(note: CreditNote) -> list[InvoiceTax]:
    """As the invoice says them, with what the note takes back of each."""
    rows = {(tax.category, tax.rate_bps): tax for tax in shown_taxes(note.invoice)}
    credited = []
    for line in note.lines.all():
        tax = rows.get((line.category, line.rate_bps))
        if tax is not None:
            tax.base_cents, tax.tax_cents = line.net_cents, line.tax_cents
            credited.append(tax)
    return credited


def _credit_note_data(note: CreditNote) -> pdf.EmbeddedFile | None:
    with translation.override(settings.LANGUAGE_CODE):
        xml = e_invoice.credit_note_xml(note)
    if xml is None:
        return None
    return pdf.EmbeddedFile(
        e_invoice.FILE_NAME,
        xml,
        f"Credit note {credit_note_number(note)} as data",
        note.created_at,
        _FACTUR_X,
    )


def has_receipt(invoice: Invoice) -> bool:
    return invoice.amount_paid_cents > 0


def file_name(kind: str, invoice: Invoice, ending: str = "pdf") -> str:
    number = _NAME.sub("-", formatted_number(invoice) or "draft").strip("-.") or str(invoice.number)
    return f"{kind}-{number}.{ending}"


def credit_note_file_name(note: CreditNote, ending: str = "xml") -> str:
    return f"credit-note-{_NAME.sub('-', credit_note_number(note)).strip('-.')}.{ending}"


def words_for(invoice: Invoice, now: datetime) -> str:
    """State of payment, in words."""
    if invoice.status == OPEN:
        if being_paid([invoice]):
            return gettext("Confirming")
        if invoice.is_past_due(now):
            return gettext("Past due")
        return gettext("Partly paid") if invoice.amount_paid_cents else gettext("Not paid")
    if invoice.status == PAID and invoice.refunded_cents:
        is_whole = invoice.refunded_cents >= invoice.amount_paid_cents
        return gettext("Paid, refunded") if is_whole else gettext("Paid, partly refunded")
    return str(_WORDS[invoice.status])


def shown_taxes(invoice: Invoice) -> list[InvoiceTax]:
    """Taxes that a document shows: none that is zero and has no reason, beside nothing else."""
    taxes = invoice.charged_taxes
    says_nothing = not any(tax.rate_bps or tax.reason for tax in taxes)
    return [] if says_nothing else taxes


def _page(invoice: Invoice, *, is_receipt: bool, language: str = "") -> str:
    # Of the invoice's zone, and of the customer's language unless a reader has another: anyone who
    # asks, the file is the same.
    with (
        timezone.override(invoice.zone),
        regions.shown_in(""),
        translation.override(language or language_of(invoice.customer)),
    ):
        return render_to_string(
            "pdf/billing_invoice.html", _context(invoice, is_receipt=is_receipt)
        )


def _context(invoice: Invoice, *, is_receipt: bool) -> Mapping[str, object]:
    now = clock.now(invoice.store, invoice.mode)
    return _sides(invoice) | {
        "invoice": invoice,
        "is_live": invoice.is_live,
        "is_receipt": is_receipt,
        "number": formatted_number(invoice),
        "lines": invoice.lines.all(),
        "url": hosted_url(invoice),
        "words": words_for(invoice, now),
        "taxes": shown_taxes(invoice),
        "discount_percent": invoice.discount_value
        if invoice.discount_type == Invoice.DiscountType.PERCENT
        else None,
        "is_paid": invoice.status == PAID,
        "is_open": invoice.status == OPEN,
        "left_cents": invoice.left_cents,
        "received": received(invoice, now),
    }


def _sides(invoice: Invoice) -> dict[str, object]:
    """Seller and buyer of an invoice, and the branding of the store."""
    store = invoice.store
    drawn = read_logo(store)
    return {
        "merchant": store.brand_name or store.name,
        "seller": seller_of(invoice),
        "buyer": buyer_of(invoice),
        "logo": f"data:image/png;base64,{base64.b64encode(drawn).decode()}" if drawn else "",
        "colour": colour(store.primary_color) or "#0a6b4c",
        "is_service_shown": not store.remove_service_branding,
    }


@dataclass(frozen=True)
class ReceivedPayment:
    """A payment that counted, with its transactions."""

    at: datetime | None
    amount_cents: int
    reference: str
    transactions: Sequence[object]
    networks: Mapping[str, str]  # the names of the networks by the symbols that transactions have

    @property
    def named_transactions(self) -> list[tuple[object, str]]:
        """Each with the name of its network, as people know it."""
        symbols = (
            (transaction, getattr(transaction, "chain_symbol", ""))
            for transaction in self.transactions
        )
        return [(transaction, self.networks.get(symbol, symbol)) for transaction, symbol in symbols]


def received(invoice: Invoice, now: datetime) -> list[ReceivedPayment]:
    """Every payment that counted, oldest first."""
    return [_received(link, now) for link in payments_received(invoice)]


def _received(link: InvoicePayment, now: datetime) -> ReceivedPayment:
    facts = checkout_facts(link.payment, now)
    offered = [address.asset for address in facts.payment_addresses]
    return ReceivedPayment(
        at=link.counted_at if link.counted_cents else link.late_seen_at,
        amount_cents=link.counted_cents + link.late_cents,
        reference=link.payment.reference,
        transactions=facts.transactions,
        networks={asset.chain_symbol: asset.chain_name for asset in offered},
    )
