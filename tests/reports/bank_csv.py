"""Readers of the CSV that Xero and QuickBooks Online import as a bank's, by what both publish about
it. No package reads these: whatever they say is refused is refused here.

QuickBooks Online: "Format CSV files in Excel to get bank transactions" and "Manually upload
transactions" of its help (three columns in this order, one format of dates, no zeros, no signs
before amounts but minus, 350 KB, 1,000 rows). Xero: its template of a bank statement (asterisks
mark the columns that are required) and "Import a CSV bank statement" (1,000 lines).
"""

import csv
import io
import re
from datetime import datetime
from decimal import Decimal
from typing import NamedTuple

ROWS_MAX = 1_000
QUICKBOOKS_BYTES_MAX = 350_000
_AMOUNT = re.compile(r"-?[0-9]+(\.[0-9]{1,2})?", re.ASCII)
_DATE = re.compile(r"[0-9]{1,2}/[0-9]{1,2}/[0-9]{4}", re.ASCII)
XERO_NEEDS = ("Date", "Amount")
XERO_KNOWS = (
    *XERO_NEEDS,
    "Payee",
    "Description",
    "Reference",
    "Check Number",
    "Transaction Type",
    "Account Code",
    "Tax Rate (Display Name)",
)


class ImportRefused(Exception):
    """The program would refuse the file, or read something else than it says."""


class ImportedLine(NamedTuple):
    day: str
    amount: Decimal
    description: str
    reference: str


def read_quickbooks(content: bytes, date_format: str) -> list[ImportedLine]:
    if len(content) > QUICKBOOKS_BYTES_MAX:
        raise ImportRefused("larger than 350 KB")
    head, rows = _rows(content)
    if head != ["Date", "Description", "Amount"]:
        raise ImportRefused(f"columns {head}")
    return [_line(day, amount, text, "", date_format) for day, text, amount in rows]


def read_xero(content: bytes, date_format: str) -> list[ImportedLine]:
    head, rows = _rows(content)
    if not set(XERO_NEEDS) <= set(head) <= set(XERO_KNOWS) or len(set(head)) < len(head):
        raise ImportRefused(f"columns {head}")
    lines = []
    for row in rows:
        cells = dict(zip(head, row, strict=True))
        # Lines are the same to it, and are imported once, if all of these are.
        text = " ".join(cells.get(name, "") for name in ("Payee", "Description", "Check Number"))
        lines.append(
            _line(cells["Date"], cells["Amount"], text, cells.get("Reference", ""), date_format)
        )
    if len(set(lines)) < len(lines):
        raise ImportRefused("lines that are taken for duplicates")
    return lines


def _rows(content: bytes) -> tuple[list[str], list[list[str]]]:
    if content.startswith(b"\xef\xbb\xbf"):
        raise ImportRefused("a mark before the first column's name")
    head, *rows = csv.reader(io.StringIO(content.decode(), newline=""), strict=True)
    if any(len(row) != len(head) for row in rows):
        raise ImportRefused("rows of other lengths")
    if len(rows) > ROWS_MAX:
        raise ImportRefused("more than 1,000 lines")
    return head, rows


def _line(day: str, amount: str, text: str, reference: str, date_format: str) -> ImportedLine:
    if not _DATE.fullmatch(day):
        raise ImportRefused(f"date {day}")
    if not _AMOUNT.fullmatch(amount) or not Decimal(amount):
        raise ImportRefused(f"amount {amount}")
    if not text.strip() or text.strip().isdigit():
        raise ImportRefused(f"description {text}")
    try:
        moment = datetime.strptime(day, date_format)  # a day has no zone
    except ValueError:
        raise ImportRefused(f"date {day}") from None
    return ImportedLine(str(moment.date()), Decimal(amount), text, reference)
