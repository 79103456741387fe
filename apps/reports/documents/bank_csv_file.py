"""A statement as the CSV that Xero and QuickBooks Online take as a bank's, with the columns of
their own templates: one line for each entry, in money. Neither program takes a line of nothing, so
what is worth less than half a cent isn't in it.

Days have the order of the program's country: month first where the money is US dollars.
"""

from collections.abc import Callable, Iterator
from typing import Any

from apps.core import money
from apps.core.documents import spreadsheet
from apps.reports.account_codes import codes_of
from apps.reports.documents.statement_lines import BankLine, BankStatement, code_of
from apps.reports.models import Report

XERO_COLUMNS = (
    "Date",
    "Amount",
    "Payee",
    "Description",
    "Reference",
    "Check Number",
    "Account Code",
)
QUICKBOOKS_COLUMNS = ("Date", "Description", "Amount")
MONTH_FIRST = frozenset({"USD"})


def write_xero(report: Report, file: Any, progress: Callable[[int], None]) -> None:
    """The whole file. Raises RateMissing."""
    statement = BankStatement.of(report, progress)
    codes = codes_of(report.store_id)
    rows = (
        (
            _day(line, statement.currency),
            money.text_from_cents(line.cents),
            line.order_id,
            line.details,
            line.reference,
            line.id,
            code_of(codes, line),
        )
        for line in statement.lines()
        if line.cents
    )
    _write(XERO_COLUMNS, rows, file)


def write_quickbooks(report: Report, file: Any, progress: Callable[[int], None]) -> None:
    """The whole file. Raises RateMissing."""
    statement = BankStatement.of(report, progress)
    rows = (
        (
            _day(line, statement.currency),
            f"{line.details} {line.reference} #{line.id}",
            money.text_from_cents(line.cents),
        )
        for line in statement.lines()
        if line.cents
    )
    _write(QUICKBOOKS_COLUMNS, rows, file)


def _write(columns: tuple[str, ...], rows: Iterator[tuple[object, ...]], file: Any) -> None:
    for text in spreadsheet.lines(columns, rows, has_mark=False):
        file.write(text.encode())


def _day(line: BankLine, currency: str) -> str:
    return f"{line.day:%m/%d/%Y}" if currency in MONTH_FIRST else f"{line.day:%d/%m/%Y}"
