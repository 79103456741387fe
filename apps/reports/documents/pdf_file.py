"""A report as PDF: the sums as tables and, for accountants, every entry as lines of text.

Text is a hundred times cheaper to draw than cells, and it is drawn a few pages at a time: memory stays flat.
"""

import tempfile
from collections.abc import Callable, Iterator
from itertools import islice
from typing import IO, Any

from django.template.loader import render_to_string

from apps.core import money, pdf
from apps.core.pdf_join import join
from apps.reports.documents.figures import Values
from apps.reports.labels import ACCOUNTS, kind_label
from apps.reports.models import Report
from apps.reports.selectors import Amounts, AssetSums, Extent, Line, asset_sums, lines

LINES_PER_PAGE, PAGES_PER_PART = 54, 16
STEP = 2_000
# Name and width of each column; those with a minus are set to the right.
COLUMNS = (
    ("Time (UTC)", 19), ("What", 25), ("Account", 9), ("Asset", 9), ("Amount", -24), ("Balance", -24), ("Value", -17), ("Rate", -16),
    ("Source", 9), ("Reference", 36),
)  # fmt: skip


def write(report: Report, file: IO[bytes], progress: Callable[[int], None]) -> None:
    """The whole file. `progress` hears now and then how many entries are done."""
    extent = Extent.of(report)
    sums = asset_sums(extent)
    report.lines_total = sum(one.entries for asset in sums for one in asset.sums)
    is_listed = report.report_type == Report.Type.ACCOUNTING_TRANSACTIONS
    with tempfile.TemporaryFile("w+", encoding="utf-8") as spool:
        values = Values()
        for line in lines(extent, sums):
            values.add(line)
            if is_listed:
                spool.write(f"{_row(line)}\n")
            if values.lines % STEP == 0:
                progress(values.lines if not is_listed else 0)
        spool.seek(0)
        summary = pdf.render(render_to_string("pdf/report.html", _summary(report, sums, values)))
        join(_parts(report, summary, spool, progress), file)


def _parts(report: Report, summary: bytes, spool: IO[str], progress: Callable[[int], None]) -> Iterator[bytes]:
    yield summary
    head, done, first_page = _columns(name for name, _ in COLUMNS), 0, 1
    while rows := [text.rstrip("\n") for text in islice(spool, LINES_PER_PAGE * PAGES_PER_PART)]:
        pages = ["\n".join([head, *rows[at : at + LINES_PER_PAGE]]) for at in range(0, len(rows), LINES_PER_PAGE)]
        context = {"report": report, "pages": pages, "number_before": first_page - 1}
        yield pdf.render(render_to_string("pdf/report_listing.html", context))
        done, first_page = done + len(rows), first_page + len(pages)
        progress(done)


def _row(line: Line) -> str:
    return _columns(
        (
            f"{line.at:%Y-%m-%d %H:%M:%S}",
            kind_label(line.kind),
            ACCOUNTS[line.account],
            line.asset_id,
            money.decimal_from_atomic(line.amount_atomic, line.atomic_decimals),
            money.decimal_from_atomic(line.balance_atomic, line.atomic_decimals),
            "" if line.value_cents is None else f"{money.text_from_cents(line.value_cents)} {line.currency}",
            "" if line.rate is None else money.fraction_text(line.rate),
            line.rate_source,
            line.payment_reference or str(line.reference or ""),
        )
    )


def _columns(cells: Any) -> str:
    """Cells as columns; figures that are too long for theirs push the rest along, and are never cut."""
    texts = []
    for cell, (_, width) in zip(cells, COLUMNS, strict=True):
        texts.append(cell.rjust(-width) if width < 0 else cell.ljust(width))
    return " ".join(texts).rstrip()


def _summary(report: Report, sums: list[AssetSums], values: Values) -> dict[str, Any]:
    store = report.store
    return {
        "report": report,
        "merchant": store.brand_name or store.name,
        "assets": [_asset(one) for one in sums],
        "values": list(values.by_currency()),
        "unpriced": sum(one.unpriced for one in values.sums()),
        "is_service_shown": not store.remove_service_branding,
    }


def _asset(asset: AssetSums) -> dict[str, Any]:
    def told(amounts: Amounts) -> list[str]:
        return [money.decimal_from_atomic(amount, asset.atomic_decimals) for amount in (*amounts, amounts.total)]

    rows = [{"label": kind_label(one.kind), "movements": one.movements, "amounts": told(one.amounts)} for one in asset.sums]
    return {"id": asset.asset_id, "opening": told(asset.opening), "rows": rows, "closing": told(asset.closing)}
