"""Letters to a store's customers about their invoices, in the store's name. Queued in the caller's transaction."""

from typing import Any

from apps.billing.documents import formatted_number, hosted_url
from apps.billing.models import Invoice
from apps.core import mail
from apps.core.clock import real_now


def invoice_opened(invoice: Invoice) -> None:
    """The invoice of a cycle, once."""
    _send(invoice, key=f"invoice_opened:{invoice.pk}")


def invoice_asked_for(invoice: Invoice) -> None:
    """The merchant wants it sent (again): at most one letter a minute, however often it is asked for."""
    _send(invoice, key=f"invoice_sent:{invoice.pk}:{int(real_now().timestamp()) // 60}")


def _send(invoice: Invoice, *, key: str) -> None:
    mail.send(key=key, to=invoice.customer.email, template="invoice_open", context=_context(invoice), store=invoice.store)


def _context(invoice: Invoice) -> dict[str, Any]:
    return {
        "number": formatted_number(invoice),
        "total_cents": invoice.total_cents,
        "left_cents": invoice.total_cents - invoice.amount_paid_cents,
        "currency": invoice.currency,
        "due_at": invoice.due_at,
        "description": invoice.description,
        "name": invoice.customer.name,
        "email": invoice.customer.email,
        "url": hosted_url(invoice),
        "is_test": not invoice.is_live,
    }
