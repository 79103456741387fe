"""What people and their programs do with billing stands in the store's audit log; what time does is
told by each record's history."""

from collections.abc import Mapping
from typing import Any

from apps.billing.documents.invoices import formatted_number
from apps.billing.models import Customer, Invoice, Price, Product, Subscription
from apps.core.money import Fiat
from apps.core.regions import in_english
from apps.stores import audit

Record = Product | Price | Customer | Subscription | Invoice


def note(action: str, row: Record, details: Mapping[str, Any] | None = None) -> None:
    """In the transaction of the act."""
    audit.record(
        action, store=row.store_id, mode=row.mode, target=row, name=_name(row), details=details
    )


def _name(row: Record) -> str:
    match row:
        case Product():
            return row.name
        case Price():
            return f"{row} for {row.product.name}"
        case Customer():
            return row.email
        case Subscription():
            return f"{row.customer.email}: {row.price.product.name}"
        case Invoice():
            return formatted_number(row) or _draft(row)


def _draft(invoice: Invoice) -> str:
    """Its amount first: however long an address is, it stays in sight."""
    total = in_english(Fiat(invoice.total_cents, invoice.currency))
    return f"Draft of {total} for {invoice.customer.email}"
