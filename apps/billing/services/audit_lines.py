"""Audit lines of acts of people and their programs in billing; acts of time are in each record's
history."""

from collections.abc import Mapping
from typing import Any

from apps.billing.models import (
    CreditNote,
    Customer,
    DocumentSettings,
    Invoice,
    Price,
    Product,
    Subscription,
    TaxRate,
    TaxSettings,
)
from apps.billing.numbers import credit_note_number, formatted_number
from apps.core.money import Fiat
from apps.core.text.regions import in_english
from apps.stores.auditing import audit

Record = (
    Product
    | Price
    | Customer
    | Subscription
    | Invoice
    | CreditNote
    | TaxRate
    | TaxSettings
    | DocumentSettings
)


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
        case TaxRate():
            return row.name
        case TaxSettings() | DocumentSettings():
            return row.store.name
        case CreditNote():
            return credit_note_number(row)
        case Invoice():
            return formatted_number(row) or _draft(row)


def _draft(invoice: Invoice) -> str:
    """Its amount first: however long an address is, it stays in sight."""
    total = in_english(Fiat(invoice.total_cents, invoice.currency))
    return f"Draft of {total} for {invoice.customer.email}"
