"""An owner's settings for the numbers of invoices and credit notes, and for automatic credit
notes."""

import re

from django.db import transaction
from django.db.models import QuerySet

from apps.access.access import Access
from apps.billing.models import CreditNote, DocumentSettings, Invoice
from apps.billing.numbers import (
    DEFAULT_CREDIT_NOTE_PREFIX,
    DEFAULT_INVOICE_PREFIX,
    series_of,
)
from apps.billing.requests import DocumentSettingsChanges
from apps.billing.services import audit_lines
from apps.core.messages.fields import Invalid

_NUMBERS = ("invoice_prefix", "credit_note_prefix", "restarts_yearly")
_YEAR = r"[0-9]{4}-"


def settings_of(access: Access) -> DocumentSettings:
    """The store's, or a row that isn't saved and says nothing."""
    row = DocumentSettings.objects.visible_to(access).first()
    return row or DocumentSettings(store=access.store, mode=access.mode)


@transaction.atomic
def change_settings(access: Access, request: DocumentSettingsChanges) -> DocumentSettings:
    """Counts for what is numbered from now on; a prefix that was used before goes on where it
    ended. Raises Invalid."""
    at = access.now()
    fields = request.sent()
    DocumentSettings.objects.get_or_create(
        store=access.store, mode=access.mode, defaults={"created_at": at, "updated_at": at}
    )
    row: DocumentSettings = (
        DocumentSettings.objects.visible_to(access).select_for_update(of=("self",)).get()
    )
    before = [getattr(row, name) for name in _NUMBERS]
    for name, value in fields.items():
        setattr(row, name, value)
    if [getattr(row, name) for name in _NUMBERS] != before:
        row.invoice_prefix = row.invoice_prefix or DEFAULT_INVOICE_PREFIX
        row.credit_note_prefix = row.credit_note_prefix or DEFAULT_CREDIT_NOTE_PREFIX
        _check_prefixes(access, row, fields)
    row.updated_at = at
    row.save()
    audit_lines.note("document_settings.changed", row, {"fields": sorted(fields)})
    return row


def _check_prefixes(access: Access, row: DocumentSettings, fields: dict[str, object]) -> None:
    """No invoice and credit note ever have the same number, nor an invoice one that was typed."""
    invoices = Invoice.objects.visible_to(access)
    notes = CreditNote.objects.visible_to(access)
    last = "credit_note_prefix" if "credit_note_prefix" in fields else "invoice_prefix"
    if _can_meet(row.invoice_prefix, row.credit_note_prefix):
        raise Invalid(last, "prefix_of_other")
    if any(_can_meet(row.invoice_prefix, used) for used in _used(notes)):
        raise Invalid("invoice_prefix", "prefix_of_other")
    if any(_can_meet(row.credit_note_prefix, used) for used in _used(invoices)):
        raise Invalid("credit_note_prefix", "prefix_of_other")
    own = f"^{re.escape(row.invoice_prefix)}({_YEAR})?[0-9]+$"
    typed = invoices.filter(custom_number__regex=own)
    if row.invoice_prefix != DEFAULT_INVOICE_PREFIX and typed.exists():
        raise Invalid("invoice_prefix", "prefix_typed")


def _can_meet(one: str, other: str) -> bool:
    """They are the same, with or without a year behind them."""
    return one == other or any(
        re.fullmatch(re.escape(short) + _YEAR, long) for short, long in ((one, other), (other, one))
    )


def _used(rows: "QuerySet[Invoice] | QuerySet[CreditNote]") -> list[str]:
    named = rows.exclude(series=None).order_by().values_list("series", flat=True).distinct()
    return [series for series in named if series]


def check_custom_number(invoice: Invoice) -> None:
    """A number that is typed isn't one that the store's series has given, or gives. Raises
    Invalid."""
    parsed = series_of(invoice.custom_number or "")
    if parsed is None:
        return
    of_store = {"store": invoice.store_id, "mode": invoice.mode}
    row = DocumentSettings.objects.filter(**of_store).exclude(invoice_prefix="").first()
    if row is None:
        return
    series, number = parsed
    is_given = Invoice.objects.filter(**of_store, series=series, series_number=number).exists()
    if is_given or _can_meet(row.invoice_prefix, series):
        raise Invalid("custom_number", "number_of_series")
