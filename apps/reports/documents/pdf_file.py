"""A report as PDF: the sums as tables and, for accountants, every entry as lines of text.

The entries are written straight into the file (core.pdf_listing): drawn as cells, ten thousand
would take a minute and a gigabyte.
"""

import tempfile
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from typing import IO

from django.template.loader import render_to_string

from apps.core import money
from apps.core.documents.process import Process
from apps.core.text.days import UTC_NAME, zone_named
from apps.reports.documents.figures import Values
from apps.reports.invoice_taxes import rate_sums_of, totals_of
from apps.reports.labels import ACCOUNTS, kind_label
from apps.reports.models import Report
from apps.reports.selectors import AccountAmounts, AssetSums, Extent, ReportLine, asset_sums, lines

LINES_PER_PAGE = 56
STEP = 2_000
PAGES_PER_STEP = 40
GAP = " "
SPOOLED_BETWEEN = "\x1f"
HEAD = (
    "Time (UTC)",
    "What",
    "Account",
    "Asset",
    "Amount",
    "Balance",
    "Value",
    "Rate",
    "Source",
    "Reference",
)
TO_THE_RIGHT = frozenset({"Amount", "Balance", "Value", "Rate"})
REFERENCE_LENGTH = 16  # a payment's reference; of other records the beginning of the id


def write(report: Report, file: IO[bytes], progress: Callable[[int], None]) -> None:
    """The whole file. `progress` hears now and then how many entries are done."""
    is_listed = report.report_type == Report.Type.ACCOUNTING_TRANSACTIONS
    values = Values()
    widths = [len(name) for name in HEAD]
    with (
        Process() as drawing,
        tempfile.TemporaryFile("w+", encoding="utf-8", newline="\n") as spool,
    ):
        extent = Extent.of(report)
        sums = asset_sums(extent)
        report.lines_total = sum(total.entries for asset in sums for total in asset.sums)
        for line in lines(extent, sums):
            values.add(line)
            if is_listed:
                cells = _cells(line)
                widths = [max(width, len(cell)) for width, cell in zip(widths, cells, strict=True)]
                spool.write(SPOOLED_BETWEEN.join(cells) + "\n")
            if values.lines % STEP == 0:
                progress(0 if is_listed else values.lines)
        spool.seek(0)
        summary = render_to_string("pdf/report.html", _summary(report, sums, values))
        columns = sum(widths) + len(GAP) * (len(widths) - 1)
        drawing.listing(summary, _pages(report, spool, widths, progress), columns, file)


def _cells(line: ReportLine) -> list[str]:
    return [
        f"{line.at:%Y-%m-%d %H:%M:%S}",
        kind_label(line.kind),
        ACCOUNTS[line.account],
        line.asset_id,
        money.decimal_from_atomic(line.amount_atomic, line.atomic_decimals),
        money.decimal_from_atomic(line.balance_atomic, line.atomic_decimals),
        ""
        if line.value_cents is None
        else f"{money.text_from_cents(line.value_cents)} {line.currency}",
        "" if line.rate is None else money.fraction_text(line.rate),
        line.rate_source,
        (line.payment_reference or str(line.reference or ""))[:REFERENCE_LENGTH],
    ]


def _pages(
    report: Report, spool: IO[str], widths: list[int], progress: Callable[[int], None]
) -> Iterator[list[str]]:
    """The lines of each page."""
    mark = "" if report.is_live else "TEST, no real money: "
    period = f"{report.period_from} to {report.period_to}{' so far' if report.is_so_far else ''}"
    of = f"{mark}{report.get_report_type_display()}, {period}"
    number = 1
    done = 0
    while rows := [
        text.rstrip("\n").split(SPOOLED_BETWEEN) for text in islice(spool, LINES_PER_PAGE)
    ]:
        yield [
            f"{of}: entries, page {number}",
            "",
            *(_columns(cells, widths) for cells in (HEAD, *rows)),
        ]
        number = number + 1
        done = done + len(rows)
        if number % PAGES_PER_STEP == 0:
            progress(done)


def _columns(cells: Sequence[str], widths: list[int]) -> str:
    columns = zip(HEAD, cells, widths, strict=True)
    return GAP.join(
        cell.rjust(width) if name in TO_THE_RIGHT else cell.ljust(width)
        for name, cell, width in columns
    ).rstrip()


def _summary(report: Report, sums: list[AssetSums], values: Values) -> dict[str, object]:
    store = report.store
    is_statement = report.report_type == Report.Type.MERCHANT_STATEMENT
    taxes = rate_sums_of(report) if is_statement else []
    return {
        "report": report,
        "merchant": store.brand_name or store.name,
        "zone": report.time_zone or UTC_NAME,
        "until": f"{report.until.astimezone(zone_named(report.time_zone)):%Y-%m-%d %H:%M}"
        if report.until
        else "",
        "assets": [_asset(total) for total in sums],
        "values": list(values.by_currency()),
        "taxes": taxes,
        "tax_totals": totals_of(taxes),
        "unpriced": sum(total.unpriced for total in values.sums()),
        "is_service_shown": not store.remove_service_branding,
    }


_PLACES: tuple[tuple[bool, tuple[str, ...], Callable[[AccountAmounts], tuple[int, ...]]], ...] = (
    (False, ("Available", "Held", "Reserved", "Total"), lambda amounts: amounts.here),
    (True, ("Not settled", "Settled", "Fees due"), lambda amounts: amounts.own),
)


def _asset(asset: AssetSums) -> dict[str, object]:
    """Coins that are held here, and apart from them those of the merchant's own wallet."""
    every = [asset.opening, asset.closing, *(total.amounts for total in asset.sums)]
    tables = [
        _table(asset, columns, of, is_own=is_own)
        for is_own, columns, of in _PLACES
        if not is_own or any(any(amounts.own) for amounts in every)
    ]
    return {"id": asset.asset_id, "tables": tables}


def _table(
    asset: AssetSums,
    columns: tuple[str, ...],
    of: Callable[[AccountAmounts], tuple[int, ...]],
    *,
    is_own: bool,
) -> dict[str, object]:
    def cells(amounts: AccountAmounts) -> list[str]:
        return [money.decimal_from_atomic(amount, asset.atomic_decimals) for amount in of(amounts)]

    rows = [
        {
            "label": kind_label(total.kind),
            "movements": movements,
            "amounts": cells(total.amounts),
        }
        for total in asset.sums
        if (movements := total.own_movements if is_own else total.here_movements)
    ]
    return {
        "is_own": is_own,
        "columns": columns,
        "opening": cells(asset.opening),
        "rows": rows,
        "closing": cells(asset.closing),
    }
