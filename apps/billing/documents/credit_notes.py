"""Credit notes as every interface and their event show them."""

from typing import Annotated

from msgspec import Meta

from apps.billing.documents.customers import CustomerSummary, party
from apps.billing.documents.invoices import hosted_url
from apps.billing.models import CreditNote, CreditNoteLine, CustomerCreditLine
from apps.billing.numbers import credit_note_number, formatted_number
from apps.core.clock import iso
from apps.core.messages.documents import Document, Id, Time

CreditKind = Annotated[str, Meta(extra_json_schema={"enum": CustomerCreditLine.Kind.values})]
CreditNoteReason = Annotated[str, Meta(extra_json_schema={"enum": CreditNote.Reason.values})]


class CreditNoteLineDocument(Document, frozen=True, kw_only=True):
    """The part that has one tax; `tax_category` is null where the invoice says none."""

    tax_category: str | None
    tax_rate_bps: int
    net_cents: int
    tax_cents: int


class CustomerCreditLineDocument(Document, frozen=True, kw_only=True):
    """`amount_cents` is negative where it was used or paid back."""

    id: Id
    kind: CreditKind
    amount_cents: int
    invoice_id: Id
    invoice_number: str | None
    created_at: Time


class CustomerCreditDocument(Document, frozen=True, kw_only=True):
    """The balance in one currency, with its newest lines first."""

    currency: str
    balance_cents: int
    lines: list[CustomerCreditLineDocument]


class CreditNoteDocument(Document, frozen=True, kw_only=True):
    id: Id
    number: int
    formatted_number: str
    invoice_id: Id
    invoice_number: str | None
    customer: CustomerSummary
    reason: CreditNoteReason
    memo: str | None
    currency: str
    net_cents: int
    tax_cents: int
    total_cents: int
    issued_on: str
    line_items: list[CreditNoteLineDocument]
    livemode: bool
    created_at: Time


def credit_note_url(note: CreditNote) -> str:
    """The document for the customer, who needs no other key than the invoice's link."""
    return f"{hosted_url(note.invoice)}/credit-notes/{note.number}.pdf"


def credit_note_document(note: CreditNote) -> CreditNoteDocument:
    return CreditNoteDocument(
        id=str(note.pk),
        number=note.number,
        formatted_number=credit_note_number(note),
        invoice_id=str(note.invoice_id),
        invoice_number=formatted_number(note.invoice),
        customer=party(note.invoice.customer),
        reason=note.reason,
        memo=note.memo or None,
        currency=note.currency,
        net_cents=note.net_cents,
        tax_cents=note.tax_cents,
        total_cents=note.total_cents,
        issued_on=note.issued_on.isoformat(),
        line_items=[_line(line) for line in note.lines.all()],
        livemode=note.is_live,
        created_at=iso(note.created_at),
    )


def credit_line_document(line: CustomerCreditLine) -> CustomerCreditLineDocument:
    return CustomerCreditLineDocument(
        id=str(line.pk),
        kind=line.kind,
        amount_cents=line.amount_cents,
        invoice_id=str(line.invoice_id),
        invoice_number=formatted_number(line.invoice),
        created_at=iso(line.created_at),
    )


def _line(line: CreditNoteLine) -> CreditNoteLineDocument:
    return CreditNoteLineDocument(
        tax_category=line.category or None,
        tax_rate_bps=line.rate_bps,
        net_cents=line.net_cents,
        tax_cents=line.tax_cents,
    )
