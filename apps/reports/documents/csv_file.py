"""A report as CSV: the entries one by one, or the statement's sums. Amounts are plain decimals,
times are UTC."""

from collections.abc import Callable, Iterator
from typing import Any

from apps.core import money
from apps.core.clock import iso
from apps.core.documents import spreadsheet
from apps.reports.documents.figures import Values
from apps.reports.labels import kind_label
from apps.reports.models import Report
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
)


def write(report: Report, file: Any, progress: Callable[[int], None]) -> None:
    """The whole file, line by line. `progress` hears now and then how many entries are done."""
    extent = Extent.of(report)
    sums = asset_sums(extent)
    report.lines_total = sum(total.entries for asset in sums for total in asset.sums)
    every = _counted(lines(extent, sums), progress)
    is_statement = report.report_type == Report.Type.MERCHANT_STATEMENT
    rows = _statement(sums, every) if is_statement else (_entry(line) for line in every)
    for text in spreadsheet.lines(STATEMENT_COLUMNS if is_statement else ENTRY_COLUMNS, rows):
        file.write(text.encode())


def _counted(every: Iterator[ReportLine], progress: Callable[[int], None]) -> Iterator[ReportLine]:
    for number, line in enumerate(every, 1):
        yield line
        if number % STEP == 0:
            progress(number)


def _entry(line: ReportLine) -> list[object]:
    amount, balance = (
        money.decimal_from_atomic(atomic, line.atomic_decimals)
        for atomic in (line.amount_atomic, line.balance_atomic)
    )
    return [
        iso(line.at),
        line.movement_id,
        line.entry_id,
        line.kind,
        kind_label(line.kind),
        line.role,
        line.account,
        line.asset_id,
        amount,
        balance,
        line.currency,
        None if line.value_cents is None else money.text_from_cents(line.value_cents),
        None if line.rate is None else money.fraction_text(line.rate),
        line.rate_source,
        iso(line.rate_at),
        line.reference,
        line.payment_reference,
        line.order_id,
    ]


def _statement(sums: list[AssetSums], every: Iterator[ReportLine]) -> Iterator[list[object]]:
    """Each asset from its opening to its closing balance, then what the movements were worth."""
    for asset in sums:
        yield _balance(asset, "opening_balance", "Opening balance", None, asset.opening)
        for total in asset.sums:
            yield _balance(
                asset, total.kind, kind_label(total.kind), total.movements, total.amounts
            )
        yield _balance(asset, "closing_balance", "Closing balance", None, asset.closing)
    values = Values()
    for line in every:
        values.add(line)
    for value in values.sums():
        worth = [
            money.text_from_cents(cents)
            for cents in (value.in_cents, value.out_cents, value.net_cents)
        ]
        yield [
            "value",
            value.currency,
            value.kind,
            value.label,
            value.entries,
            None,
            None,
            None,
            None,
            *worth,
        ]


def _balance(
    asset: AssetSums, kind: str, label: str, count: int | None, amounts: AccountAmounts
) -> list[object]:
    coins = [
        money.decimal_from_atomic(amount, asset.atomic_decimals)
        for amount in (*amounts, amounts.total)
    ]
    return ["balance", asset.asset_id, kind, label, count, *coins, None, None, None]
