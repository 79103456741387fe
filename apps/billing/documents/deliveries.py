"""E-invoices on their way to buyers, as every interface shows them."""

from typing import Annotated

from msgspec import Meta

from apps.billing.models import EInvoiceDelivery
from apps.core.clock import iso
from apps.core.messages.documents import Document, Id, Time

DeliveryStatus = Annotated[str, Meta(extra_json_schema={"enum": EInvoiceDelivery.Status.values})]


class EInvoiceDeliveryDocument(Document, frozen=True, kw_only=True):
    """`error` is the network's own word: what holds the document up, or why it was refused.
    `network_number` and `receipt` (XML) are what KSeF gave the document."""

    id: Id
    invoice_id: Id
    credit_note_id: Id | None
    network: str
    status: DeliveryStatus
    sender: str
    receiver: str
    network_number: str | None
    receipt: str | None
    attempts: int
    error: str | None
    next_attempt_at: Time | None
    ended_at: Time | None
    livemode: bool
    created_at: Time


def delivery_document(row: EInvoiceDelivery) -> EInvoiceDeliveryDocument:
    return EInvoiceDeliveryDocument(
        id=str(row.pk),
        invoice_id=str(row.invoice_id),
        credit_note_id=str(row.credit_note_id) if row.credit_note_id else None,
        network=row.network,
        status=row.status,
        sender=row.sender,
        receiver=row.receiver,
        network_number=row.number or None,
        receipt=row.receipt or None,
        attempts=row.attempts,
        error=row.error or None,
        next_attempt_at=iso(row.next_attempt_at),
        ended_at=iso(row.ended_at),
        livemode=row.is_live,
        created_at=iso(row.created_at),
    )
