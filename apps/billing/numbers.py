"""Numbers of invoices and credit notes as people write them."""

import re

from apps.billing.models import CreditNote, Invoice

_NUMBER = re.compile(r"(.{0,29}[^0-9])([0-9]{1,9})", re.ASCII)
DEFAULT_INVOICE_PREFIX = "INV-"
DEFAULT_CREDIT_NOTE_PREFIX = "CN-"


def formatted_number(invoice: Invoice) -> str | None:
    """Number of an invoice as people write it; a draft has none unless it was given one."""
    if invoice.custom_number:
        return invoice.custom_number
    if invoice.number is None:
        return None
    return _printed(invoice.series, invoice.series_number, DEFAULT_INVOICE_PREFIX, invoice.number)


def credit_note_number(note: CreditNote) -> str:
    """Number of a credit note as people write it."""
    return _printed(note.series, note.series_number, DEFAULT_CREDIT_NOTE_PREFIX, note.number)


def series_of(text: str) -> tuple[str, int] | None:
    """The series and number that a text would be; None when it can't be any."""
    parts = _NUMBER.fullmatch(text)
    return (parts[1], int(parts[2])) if parts is not None else None


def _printed(series: str | None, series_number: int | None, default: str, number: int) -> str:
    if series is None or series_number is None:
        return f"{default}{number:04d}"
    return f"{series}{series_number:04d}"
