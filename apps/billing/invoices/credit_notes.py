"""Credit notes: what is taken back of an invoice that is closed, by its taxes. The rest of an open
invoice is taken back by voiding it first.

A void and a refund make one by themselves (decision 831). The invoice's row is locked, so that two
never take back the same.
"""

from dataclasses import dataclass
from datetime import datetime

from django.db import transaction
from django.db.models import Q, QuerySet, Sum

from apps.access.access import Access
from apps.billing import events
from apps.billing.documents.credit_notes import CreditNoteDocument, credit_note_document
from apps.billing.invoices import customer_credit, numbering
from apps.billing.invoices.locking import locked_invoice
from apps.billing.models import (
    CreditNote,
    CreditNoteLine,
    Customer,
    DocumentSettings,
    Invoice,
    TaxRate,
    TaxSettings,
)
from apps.billing.requests import CreditNoteRequest
from apps.billing.services import audit_lines, emails
from apps.billing.states import PAID, UNCOLLECTIBLE, VOID
from apps.billing.taxes.counting import smallest_cents
from apps.core.errors import Failure
from apps.core.idempotency import once_per_form
from apps.core.messages.fields import Invalid
from apps.core.money import BASIS_POINTS

CLOSED = (PAID, VOID, UNCOLLECTIBLE)
_SHOWN_MAX = 100


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


class RefundCredited(Failure):
    field = "reason"
    message = "What was refunded of the invoice was credited before"


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


def of_invoice(invoice: Invoice, number: int) -> CreditNote | None:
    """The invoice's credit note that has this number in the store."""
    rows = CreditNote.objects.filter(invoice=invoice, number=number).prefetch_related("lines")
    return rows.select_related("invoice__store", "invoice__customer").first()


def of_customer(customer: Customer) -> list[CreditNote]:
    """The customer's newest credit notes."""
    rows = CreditNote.objects.filter(invoice__customer=customer).select_related("invoice")
    return list(rows.order_by("-created_at", "-id")[:_SHOWN_MAX])


def send_credit_note(access: Access, note: CreditNote) -> CreditNote:
    """E-mail it to the customer, at most once a minute."""
    with transaction.atomic():
        emails.requested_credit_note(note)
        events.invoice_noted(note.invoice, "credit_note_sent", access.now())
        audit_lines.note("credit_note.sent", note, {"to": note.invoice.customer.email})
    return note


def create_credit_note(
    access: Access, invoice: Invoice, request: CreditNoteRequest, *, form_key: str | None = None
) -> CreditNote:
    """Takes back an amount, or all that is left. Raises OnlyClosedCredited, NothingLeftToCredit,
    OnlyVoidCreditedAsVoid, NothingRefunded, RefundCredited, or Invalid for more than is left."""

    @transaction.atomic
    def make() -> CreditNote:
        row = locked_invoice(invoice.pk)
        if row.number is None or row.status not in CLOSED:
            raise OnlyClosedCredited
        memo = request.memo or ""
        order = CreditOrder(request.reason, _amount(row, request), memo, form_key=form_key)
        note = _create(row, order, access.now())
        audit_lines.note("credit_note.created", note)
        return note

    return once_per_form(CreditNote.objects.visible_to(access), form_key, make)


def credit_void(invoice: Invoice, at: datetime) -> None:
    """All that is left of an invoice that was voided now, where the store wants it. Its row is
    locked."""
    if invoice.number is None or not is_automatic(invoice):
        return
    if rest_cents := left_cents(invoice):
        order = CreditOrder(CreditNote.Reason.VOID, rest_cents, is_emailed=True)
        _create(invoice, order, at)


def credit_refund(invoice: Invoice, at: datetime) -> None:
    """Makes a credit note of the refunded sum of a paid invoice that no credit note has taken back,
    where the store wants it. Its row is locked."""
    if invoice.status != PAID or not invoice.refunded_cents or not is_automatic(invoice):
        return
    step = smallest_cents(invoice.currency)
    given_back = customer_credit.given_back_cents(invoice) // step * step
    cents = min(given_back, invoice.total_cents) - credited_cents(invoice)
    if cents > 0:
        order = CreditOrder(
            CreditNote.Reason.REFUND,
            cents,
            refunded_cents=invoice.refunded_cents,
            is_emailed=True,
        )
        _create(invoice, order, at)


def is_automatic(invoice: Invoice) -> bool:
    """Tells whether voids and refunds make credit notes: as the owner says, or else where the store
    has set up its taxes."""
    of_store = {"store": invoice.store_id, "mode": invoice.mode}
    chosen = DocumentSettings.objects.filter(**of_store).values_list("credits_automatically")
    (choice,) = chosen.first() or (None,)
    if choice is not None:
        return bool(choice)
    return (
        TaxRate.objects.filter(**of_store).exists()
        or (
            TaxSettings.objects.filter(Q(is_automatic=True) | Q(is_small_business=True), **of_store)
        ).exists()
    )


@dataclass(frozen=True)
class CreditOrder:
    """`refunded_cents` is what was refunded until then, of one that a refund makes."""

    reason: str
    total_cents: int
    memo: str = ""
    refunded_cents: int | None = None
    form_key: str | None = None
    is_emailed: bool = False


def _create(invoice: Invoice, order: CreditOrder, at: datetime) -> CreditNote:
    note = _numbered(invoice, order, _split(_left(invoice), order.total_cents, invoice), at)
    events.credit_note_created(note)
    if order.is_emailed:
        emails.credit_note(note)
    return note


def _amount(invoice: Invoice, request: CreditNoteRequest) -> int:
    rest_cents = left_cents(invoice)
    if not rest_cents:
        raise NothingLeftToCredit
    if request.reason == CreditNote.Reason.VOID and invoice.status != VOID:
        raise OnlyVoidCreditedAsVoid
    asked_cents = request.amount_cents
    if request.reason == CreditNote.Reason.REFUND:
        rest_cents = min(rest_cents, _refund_left_cents(invoice))
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


def _refund_left_cents(invoice: Invoice) -> int:
    """Cents that were refunded and not credited as such."""
    if not invoice.refunded_cents:
        raise NothingRefunded
    notes = CreditNote.objects.filter(invoice=invoice, reason=CreditNote.Reason.REFUND)
    credited = notes.aggregate(sum=Sum("total_cents"))["sum"] or 0
    step = smallest_cents(invoice.currency)
    left = (invoice.refunded_cents - credited) // step * step
    if left <= 0:
        raise RefundCredited
    return left


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
    """An amount over the taxes of an invoice in their proportion to each other; the last takes what
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
    invoice: Invoice, order: CreditOrder, parts: list[CreditShare], at: datetime
) -> CreditNote:
    issued_on = at.astimezone(invoice.zone).date()
    numbered = numbering.next_credit_note_number(invoice, issued_on)
    net_cents = sum(part.net_cents for part in parts)
    tax_cents = sum(part.tax_cents for part in parts)
    note = CreditNote.objects.create(
        store=invoice.store,
        mode=invoice.mode,
        created_at=at,
        form_key=order.form_key,
        invoice=invoice,
        number=numbered.number,
        series=numbered.series,
        series_number=numbered.series_number,
        reason=order.reason,
        refunded_cents=order.refunded_cents,
        memo=order.memo,
        currency=invoice.currency,
        net_cents=net_cents,
        tax_cents=tax_cents,
        total_cents=net_cents + tax_cents,
        issued_on=issued_on,
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
