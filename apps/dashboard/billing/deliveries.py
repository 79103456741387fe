"""E-invoices that go to buyers through a network: what became of each, and which may be
sent."""

from apps.access.access import Access
from apps.billing.invoices import credit_notes, delivering, e_invoice
from apps.billing.models import EInvoiceDelivery, Invoice
from apps.billing.numbers import credit_note_number


def shown(invoice: Invoice) -> list[tuple[EInvoiceDelivery, str]]:
    """Each with the number of its credit note, empty for the invoice itself."""
    return [
        (row, credit_note_number(row.credit_note) if row.credit_note else "")
        for row in delivering.deliveries_of(invoice)
    ]


def offered(invoice: Invoice) -> list[EInvoiceDelivery.Network]:
    """The networks that the invoice may go through, or be asked for again."""
    if e_invoice.refusal(invoice):
        return []
    return [
        network
        for network in delivering.networks(invoice)
        if delivering.is_sendable(invoice, network, None)
    ]


def offered_notes(access: Access, invoice: Invoice) -> list[tuple[str, EInvoiceDelivery.Network]]:
    """Each of its credit notes, by its ID, with a network that it may go through."""
    if not e_invoice.can_be_credit_note(invoice):
        return []
    return [
        (str(note.pk), network)
        for note in credit_notes.credit_notes_visible_to(access).filter(invoice=invoice)
        for network in delivering.networks(invoice)
        if delivering.is_sendable(invoice, network, note)
    ]
