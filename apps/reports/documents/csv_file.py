"""A report as CSV: the entries one by one with their counterparts, or the statement's sums.
Amounts are plain decimals, times are UTC, dates are days of the books."""

from collections.abc import Callable, Iterable, Iterator
from itertools import chain
from typing import Any, NamedTuple

from apps.billing.tax_report import RateSum
from apps.core import money
from apps.core.clock import iso
from apps.core.documents import spreadsheet
from apps.reports.account_codes import Codes, codes_of
from apps.reports.documents.figures import Values
from apps.reports.invoice_taxes import rate_sums_of
from apps.reports.labels import kind_label
from apps.reports.models import Report
from apps.reports.postings import BookSide, postings_of
from apps.reports.selectors import AccountAmounts, AssetSums, Extent, ReportLine, asset_sums, lines

STEP = 2_000
ENTRY_COLUMNS = (
    "at",
    "movement_id",
    "entry_id",
    "kind",
    "description",
    "role",
    "account",
    "asset",
    "amount",
    "balance",
    "currency",
    "value",
    "rate",
    "rate_source",
    "rate_at",
    "reference",
    "payment_reference",
    "order_id",
    "date",
    "book_value",
    "book_currency",
    "book_rate",
    "book_rate_source",
    "account_code",
    "invoice",
    "invoice_tax",
)
STATEMENT_COLUMNS = (
    "section",
    "unit",
    "kind",
    "description",
    "count",
    "available",
    "held",
    "reserved",
    "total",
    "in",
    "out",
    "net",
    # In the merchant's own wallet, and so in no total.
    "own_pending",
    "own_received",
    "own_fees_due",
    # Of the taxes of invoices.
    "tax_country",
    "tax_rate",
    "base",
    "tax",
)
# Cells that are amounts, and so written with the separators that were chosen.
AMOUNTS = frozenset({"amount", "balance", "value", "rate", "book_value", "book_rate"}).union(
    STATEMENT_COLUMNS[5:]
)
NO_TAX: tuple[object, ...] = (None,) * 4


class Separators(NamedTuple):
    """Between cells, and before decimals."""

    cells: str
    decimals: str


SEPARATORS = {
    Report.Format.CSV: Separators(",", "."),
    Report.Format.CSV_SEMICOLON: Separators(";", ","),
    Report.Format.CSV_TAB: Separators("\t", "."),
}


def write(report: Report, file: Any, progress: Callable[[int], None]) -> None:
    """The whole file, line by line. `progress` hears now and then how many entries are done."""
    extent = Extent.of(report)
    sums = asset_sums(extent)
    report.lines_total = sum(total.entries for asset in sums for total in asset.sums)
    every = counted(lines(extent, sums), progress)
    separators = SEPARATORS[Report.Format(report.format)]
    is_statement = report.report_type == Report.Type.MERCHANT_STATEMENT
    columns: tuple[str, ...] = STATEMENT_COLUMNS if is_statement else ENTRY_COLUMNS
    rows = (
        chain(_statement(sums, every, extent), _taxes(rate_sums_of(report)))
        if is_statement
        else _entries(every, extent)
    )
    is_amount = [column in AMOUNTS for column in columns]
    written = (separated(row, is_amount, separators.decimals) for row in rows)
    for text in spreadsheet.lines(columns, written, separator=separators.cells):
        file.write(text.encode())


def counted(every: Iterator[ReportLine], progress: Callable[[int], None]) -> Iterator[ReportLine]:
    """The lines; `progress` hears of them now and then."""
    for number, line in enumerate(every, 1):
        yield line
        if number % STEP == 0:
            progress(number)


def separated(row: list[object], is_amount: list[bool], decimals: str) -> list[object]:
    """The cells with the sign before decimals that was chosen."""
    return [
        str(cell).replace(".", decimals) if is_one and cell is not None else cell
        for cell, is_one in zip(row, is_amount, strict=True)
    ]


def _entries(every: Iterator[ReportLine], extent: Extent) -> Iterator[list[object]]:
    """The entries of each movement, and after them their counterparts: they sum to zero."""
    codes = codes_of(extent.store_id)
    for postings in postings_of(every):
        for posting in postings:
            yield _entry(posting, extent, codes)


def _entry(posting: BookSide, extent: Extent, codes: Codes) -> list[object]:
    line = posting.line
    amount, balance = (
        money.decimal_from_atomic(atomic, line.atomic_decimals)
        for atomic in (posting.amount_atomic, line.balance_atomic)
    )
    return [
        iso(line.at),
        line.movement_id,
        line.entry_id if posting.is_entry else None,
        line.kind,
        kind_label(line.kind),
        posting.role,
        posting.account,
        line.asset_id,
        amount,
        balance if posting.is_entry else None,
        line.currency,
        cents_text(posting.value_cents),
        None if line.rate is None else money.fraction_text(line.rate),
        line.rate_source,
        iso(line.rate_at),
        line.reference,
        line.payment_reference,
        line.order_id,
        extent.day(line.at),
        cents_text(posting.book_value_cents),
        extent.store_currency,
        None if line.book_rate is None else money.fraction_text(line.book_rate),
        line.book_rate_source,
        codes.coins if posting.is_entry else getattr(codes, posting.code_line),
        line.invoice,
        line.invoice_tax,
    ]


def cents_text(cents: int | None) -> str | None:
    return None if cents is None else money.text_from_cents(cents)


def _statement(
    sums: list[AssetSums], every: Iterator[ReportLine], extent: Extent
) -> Iterator[list[object]]:
    """Each asset from its opening to its closing balance, then what the movements were worth, in
    the currencies of payments and in the books'."""
    for asset in sums:
        yield _balance(asset, "opening_balance", "Opening balance", None, asset.opening)
        for total in asset.sums:
            yield _balance(
                asset, total.kind, kind_label(total.kind), total.movements, total.amounts
            )
        yield _balance(asset, "closing_balance", "Closing balance", None, asset.closing)
    values, books = Values(), Values()
    for line in every:
        values.add(line)
        books.add(line._replace(currency=extent.store_currency, value_cents=line.book_value_cents))
    yield from _worth("value", values)
    yield from _worth("book_value", books)


def _worth(section: str, values: Values) -> Iterator[list[object]]:
    for value in values.sums():
        worth = [
            money.text_from_cents(cents)
            for cents in (value.in_cents, value.out_cents, value.net_cents)
        ]
        yield [
            section,
            value.currency,
            value.kind,
            value.label,
            value.entries,
            None,
            None,
            None,
            None,
            *worth,
            *[None] * len(AccountAmounts().own),
            *NO_TAX,
        ]


def _taxes(sums: Iterable[RateSum]) -> Iterator[list[object]]:
    """Taxes of the invoices of the days, less those of credit notes; how many of both there are."""
    between = [None] * (len(STATEMENT_COLUMNS) - 5 - len(NO_TAX))
    for tax in sums:
        yield [
            "invoice_tax",
            tax.currency,
            tax.category,
            "Tax of invoices",
            tax.invoices + tax.credit_notes,
            *between,
            tax.tax_country,
            tax.percent or None,
            money.text_from_cents(tax.base_cents),
            money.text_from_cents(tax.tax_cents),
        ]


def _balance(
    asset: AssetSums, kind: str, label: str, count: int | None, amounts: AccountAmounts
) -> list[object]:
    here, own = (
        [money.decimal_from_atomic(amount, asset.atomic_decimals) for amount in part]
        for part in (amounts.here, amounts.own)
    )
    return ["balance", asset.asset_id, kind, label, count, *here, None, None, None, *own, *NO_TAX]
