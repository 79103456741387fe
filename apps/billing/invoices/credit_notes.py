"""Credit notes: what is taken back of an invoice that is closed, by its taxes. The rest of an open
invoice is taken back by voiding it first.

Numbers are taken under the lock of the store's counter in the transaction that uses them, as those
of invoices; the invoice's row is locked before, so that two never take back the same.
"""

from dataclasses import dataclass

from django.db import connection, transaction
from django.db.models import QuerySet, Sum

from apps.access.access import Access
from apps.billing import events
from apps.billing.documents.credit_notes import CreditNoteDocument, credit_note_document
from apps.billing.invoices.locking import locked_invoice
from apps.billing.models import CreditNote, CreditNoteLine, Invoice
from apps.billing.requests import CreditNoteRequest
from apps.billing.services import audit_lines
from apps.billing.states import PAID, UNCOLLECTIBLE, VOID
from apps.billing.taxes.counting import smallest_cents
from apps.core.errors import Failure
from apps.core.idempotency import once_per_form
from apps.core.messages.fields import Invalid
from apps.core.money import BASIS_POINTS

CLOSED = (PAID, VOID, UNCOLLECTIBLE)
_SHOWN_MAX = 100
_NEXT_NUMBER = """
UPDATE billing_invoicecounter SET last_credit_note = last_credit_note + 1
WHERE store_id = %s AND mode = %s RETURNING last_credit_note
"""


class OnlyClosedCredited(Failure):
    message = "Only paid, void and uncollectible invoices can be credited; void an open one first"


class NothingLeftToCredit(Failure):
    field = "amount_cents"
    message = "The whole invoice was credited before"


class OnlyVoidCreditedAsVoid(Failure):
    field = "reason"
    message = "The invoice wasn’t voided"


class NothingRefunded(Failure):
    field = "reason"
    message = "Nothing of the invoice was refunded"


@dataclass
class CreditShare:
    """Rest of one tax of an invoice that can be credited."""

    category: str
    rate_bps: int
    reason: str
    reason_code: str
    net_cents: int
    tax_cents: int

    @property
    def total_cents(self) -> int:
        return self.net_cents + self.tax_cents

    def part(self, total_cents: int, step: int) -> "CreditShare":
        """So much of it, of which the tax is what the rate makes, and never more than is left."""
        taxed = BASIS_POINTS + self.rate_bps
        tax = (2 * total_cents * self.rate_bps + taxed * step) // (2 * taxed * step) * step
        tax = max(total_cents - self.net_cents, min(tax, self.tax_cents))
        return CreditShare(
            self.category, self.rate_bps, self.reason, self.reason_code, total_cents - tax, tax
        )


def credited_cents(invoice: Invoice) -> int:
    """The sum of the invoice's credit notes."""
    return CreditNote.objects.filter(invoice=invoice).aggregate(sum=Sum("total_cents"))["sum"] or 0


def left_cents(invoice: Invoice) -> int:
    """The part of the total that no credit note has taken back."""
    return invoice.total_cents - credited_cents(invoice)


def shown_of(invoice: Invoice) -> list[CreditNoteDocument]:
    """The invoice's credit notes, oldest first."""
    rows = CreditNote.objects.filter(invoice=invoice).prefetch_related("lines").order_by("number")
    rows = rows.select_related("invoice__customer")
    return [credit_note_document(note) for note in rows[:_SHOWN_MAX]]


def create_credit_note(
    access: Access, invoice: Invoice, request: CreditNoteRequest, *, form_key: str | None = None
) -> CreditNote:
    """Takes back an amount, or all that is left. Raises OnlyClosedCredited, NothingLeftToCredit,
    OnlyVoidCreditedAsVoid, NothingRefunded, or Invalid for more than is left."""

    @transaction.atomic
    def make() -> CreditNote:
        row = locked_invoice(invoice.pk)
        if row.number is None or row.status not in CLOSED:
            raise OnlyClosedCredited
        total_cents = _amount(row, request)
        note = _numbered(access, row, request, _split(_left(row), total_cents, row), form_key)
        events.credit_note_created(note)
        audit_lines.note("credit_note.created", note)
        return note

    return once_per_form(CreditNote.objects.visible_to(access), form_key, make)


def _amount(invoice: Invoice, request: CreditNoteRequest) -> int:
    rest_cents = left_cents(invoice)
    if not rest_cents:
        raise NothingLeftToCredit
    if request.reason == CreditNote.Reason.VOID and invoice.status != VOID:
        raise OnlyVoidCreditedAsVoid
    asked_cents = request.amount_cents
    if request.reason == CreditNote.Reason.REFUND:
        if not invoice.refunded_cents:
            raise NothingRefunded
        asked_cents = asked_cents or min(rest_cents, invoice.refunded_cents)
    if asked_cents is None:
        return rest_cents
    if asked_cents % smallest_cents(invoice.currency):
        raise Invalid(
            "amount_cents",
            "multiple",
            step=smallest_cents(invoice.currency),
            currency=invoice.currency,
        )
    if asked_cents > rest_cents:
        raise Invalid("amount_cents", "at_most", maximum=rest_cents)
    return asked_cents


def _left(invoice: Invoice) -> list[CreditShare]:
    """By tax, what was billed less what was credited before."""
    shares = [
        CreditShare(
            row.category, row.rate_bps, row.reason, row.reason_code, row.base_cents, row.tax_cents
        )
        for row in invoice.charged_taxes
    ]
    # Lines of which the invoice says no tax.
    plain_cents = invoice.subtotal_cents - invoice.discount_cents
    plain_cents -= sum(share.net_cents for share in shares)
    if plain_cents or not shares:
        shares.append(CreditShare("", 0, "", "", plain_cents, 0))
    by_tax = {(share.category, share.rate_bps): share for share in shares}
    for line in CreditNoteLine.objects.filter(credit_note__invoice=invoice):
        share = by_tax[line.category, line.rate_bps]
        share.net_cents -= line.net_cents
        share.tax_cents -= line.tax_cents
    return shares


def _split(shares: list[CreditShare], total_cents: int, invoice: Invoice) -> list[CreditShare]:
    """An amount over the taxes of an invoice as they stand to each other; the last takes what
    rounding leaves."""
    step = smallest_cents(invoice.currency)
    rest_cents = sum(share.total_cents for share in shares)
    if total_cents == rest_cents:
        return [share for share in shares if share.total_cents]
    parts = []
    for share in shares:
        cents = total_cents * share.total_cents // (rest_cents * step) * step if rest_cents else 0
        rest_cents -= share.total_cents
        cents = total_cents if share is shares[-1] else min(cents, share.total_cents)
        total_cents -= cents
        if cents:
            parts.append(share.part(cents, step))
    return parts


def _numbered(
    access: Access,
    invoice: Invoice,
    request: CreditNoteRequest,
    parts: list[CreditShare],
    form_key: str | None,
) -> CreditNote:
    at = access.now()
    with connection.cursor() as cursor:
        cursor.execute(_NEXT_NUMBER, [invoice.store_id, invoice.mode])
        (number,) = cursor.fetchone()
    net_cents = sum(part.net_cents for part in parts)
    tax_cents = sum(part.tax_cents for part in parts)
    note = CreditNote.objects.create(
        store=invoice.store,
        mode=invoice.mode,
        created_at=at,
        form_key=form_key,
        invoice=invoice,
        number=number,
        reason=request.reason,
        memo=request.memo or "",
        currency=invoice.currency,
        net_cents=net_cents,
        tax_cents=tax_cents,
        total_cents=net_cents + tax_cents,
        issued_on=at.astimezone(invoice.zone).date(),
    )
    CreditNoteLine.objects.bulk_create(
        CreditNoteLine(
            credit_note=note,
            position=position,
            category=part.category,
            rate_bps=part.rate_bps,
            reason=part.reason,
            reason_code=part.reason_code,
            net_cents=part.net_cents,
            tax_cents=part.tax_cents,
        )
        for position, part in enumerate(parts)
    )
    return note


def credit_notes_visible_to(access: Access) -> "QuerySet[CreditNote]":
    """Newest first, each with what its document shows."""
    rows: QuerySet[CreditNote] = CreditNote.objects.visible_to(access)
    return (
        rows.select_related("invoice__store", "invoice__customer")
        .prefetch_related("lines")
        .order_by("-created_at", "-id")
    )
