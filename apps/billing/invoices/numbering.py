"""Numbers of invoices and credit notes: each has the store's next, and where its owner chose a
prefix the next of that series, too. Taken under the lock of the store's counter in the transaction
that uses them, so none is ever missing.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date

from django.db import connection
from django.db.models import Max, QuerySet

from apps.billing.models import CreditNote, Invoice
from apps.billing.numbers import DEFAULT_CREDIT_NOTE_PREFIX, DEFAULT_INVOICE_PREFIX

_NEXT_INVOICE = """
INSERT INTO billing_invoicecounter (store_id, mode, last_number)
    VALUES (%(store)s, %(mode)s, %(count)s)
ON CONFLICT (store_id, mode) DO UPDATE
    SET last_number = billing_invoicecounter.last_number + %(count)s
    RETURNING last_number, (SELECT array[invoice_prefix, restarts_yearly::text]
        FROM billing_documentsettings WHERE store_id = %(store)s AND mode = %(mode)s)
"""
_NEXT_CREDIT_NOTE = """
UPDATE billing_invoicecounter SET last_credit_note = last_credit_note + 1
WHERE store_id = %(store)s AND mode = %(mode)s
    RETURNING last_credit_note, (SELECT array[credit_note_prefix, restarts_yearly::text]
        FROM billing_documentsettings WHERE store_id = %(store)s AND mode = %(mode)s)
"""


@dataclass(frozen=True)
class Numbered:
    """`series` with `series_number` are null where nobody chose a prefix."""

    number: int
    series: str | None = None
    series_number: int | None = None


def next_invoice_number(invoice: Invoice, issued_on: date) -> Numbered:
    """Of an invoice that is finalized now. One with a number of its own takes none of a series."""
    number, chosen = _next(_NEXT_INVOICE, invoice)
    if invoice.custom_number or not chosen:
        return Numbered(number)
    series = _series(chosen, issued_on)
    rows, plain = _rows_of(invoice)
    return _in_series(number, series, rows, plain, DEFAULT_INVOICE_PREFIX)


def next_invoice_numbers(invoices: Sequence[Invoice], issued_on: Sequence[date]) -> list[Numbered]:
    """Of invoices of one store in one mode that are finalized now, in this order. None has a number
    of its own."""
    number, chosen = _next(_NEXT_INVOICE, invoices[0], len(invoices))
    first = number - len(invoices) + 1
    if not chosen:
        return [Numbered(first + place) for place in range(len(invoices))]
    rows, plain = _rows_of(invoices[0])
    last: dict[str, int] = {}
    numbered = []
    for place, day in enumerate(issued_on):
        series = _series(chosen, day)
        if series not in last:
            last[series] = _last_in_series(series, rows, plain, DEFAULT_INVOICE_PREFIX)
        last[series] += 1
        numbered.append(Numbered(first + place, series, last[series]))
    return numbered


def _rows_of(invoice: Invoice) -> "tuple[QuerySet[Invoice], QuerySet[Invoice]]":
    """The invoices of its store and mode, and those that are in no series."""
    rows = Invoice.objects.filter(store=invoice.store_id, mode=invoice.mode)
    return rows, rows.filter(series=None, custom_number=None)


def next_credit_note_number(invoice: Invoice, issued_on: date) -> Numbered:
    """Of a credit note that is made now."""
    number, chosen = _next(_NEXT_CREDIT_NOTE, invoice)
    if not chosen:
        return Numbered(number)
    series = _series(chosen, issued_on)
    rows = CreditNote.objects.filter(store=invoice.store_id, mode=invoice.mode)
    return _in_series(number, series, rows, rows.filter(series=None), DEFAULT_CREDIT_NOTE_PREFIX)


def _next(statement: str, invoice: Invoice, count: int = 1) -> tuple[int, tuple[str, bool] | None]:
    """The counter's next, the last of `count`, and the prefix with whether it restarts yearly;
    None: nobody chose."""
    with connection.cursor() as cursor:
        cursor.execute(statement, {"store": invoice.store_id, "mode": invoice.mode, "count": count})
        number, chosen = cursor.fetchone()
    if not chosen or not chosen[0]:
        return number, None
    return number, (chosen[0], chosen[1] == "true")


def _series(chosen: tuple[str, bool], issued_on: date) -> str:
    prefix, restarts_yearly = chosen
    return f"{prefix}{issued_on.year}-" if restarts_yearly else prefix


def _in_series(
    number: int,
    series: str,
    rows: "QuerySet[Invoice] | QuerySet[CreditNote]",
    plain: "QuerySet[Invoice] | QuerySet[CreditNote]",
    default: str,
) -> Numbered:
    return Numbered(number, series, _last_in_series(series, rows, plain, default) + 1)


def _last_in_series(
    series: str,
    rows: "QuerySet[Invoice] | QuerySet[CreditNote]",
    plain: "QuerySet[Invoice] | QuerySet[CreditNote]",
    default: str,
) -> int:
    """The series that everybody begins with goes on where it ended."""
    last = rows.filter(series=series).aggregate(last=Max("series_number"))["last"]
    if last is None and series == default:
        last = plain.filter(number__isnull=False).aggregate(last=Max("number"))["last"]
    return last or 0
