"""The tax report: taxes of invoices by month, as CSV and as PDF.

Base and tax are in the currency of the invoices, a rate is a percentage. What businesses abroad
were billed without tax is listed once more by their VAT numbers, for the recapitulative statement.
"""

from collections.abc import Callable, Iterator
from typing import IO, Any

from django.template.loader import render_to_string

from apps.billing.models.tax import percent_of
from apps.billing.tax_report import SupplySum, TaxSum, supply_sums, tax_sums
from apps.billing.taxes.choosing import seller_country
from apps.core import money
from apps.core.documents import spreadsheet
from apps.core.documents.process import Process
from apps.core.text.days import UTC_NAME, zone_named
from apps.reports.documents.csv_file import SEPARATORS, separated
from apps.reports.invoice_taxes import tax_extent_of, totals_of
from apps.reports.models import Report

COLUMNS = (
    "section",
    "month",
    "currency",
    "country",
    "tax_country",
    "case",
    "category",
    "rate",
    "vat_number",
    "invoices",
    "credit_notes",
    "base",
    "tax",
)
AMOUNTS = frozenset({"rate", "base", "tax"})


def write_csv(report: Report, file: Any, progress: Callable[[int], None]) -> None:
    """The whole file."""
    extent = tax_extent_of(report)
    separators = SEPARATORS[Report.Format(report.format)]
    is_amount = [column in AMOUNTS for column in COLUMNS]
    country = seller_country(report.store)
    rows = _rows(tax_sums(extent), supply_sums(extent), country)
    written = (separated(row, is_amount, separators.decimals) for row in rows)
    for text in spreadsheet.lines(COLUMNS, written, separator=separators.cells):
        file.write(text.encode())


def _rows(
    sums: list[TaxSum], supplies: list[SupplySum], seller_country: str
) -> Iterator[list[object]]:
    for tax in sums:
        yield [
            "tax",
            f"{tax.month:%Y-%m}",
            tax.currency,
            tax.country,
            tax.tax_country(seller_country),
            tax.case,
            tax.category,
            percent_of(tax.rate_bps) if tax.category else None,
            None,
            tax.invoices,
            tax.credit_notes,
            money.text_from_cents(tax.base_cents),
            money.text_from_cents(tax.tax_cents),
        ]
    for supply in supplies:
        yield [
            "recapitulative_statement",
            f"{supply.month:%Y-%m}",
            supply.currency,
            supply.vat_number[:2],
            None,
            None,
            supply.category,
            None,
            supply.vat_number,
            None,
            None,
            money.text_from_cents(supply.base_cents),
            None,
        ]


def write_pdf(report: Report, file: IO[bytes], progress: Callable[[int], None]) -> None:
    """The whole file."""
    extent = tax_extent_of(report)
    country = seller_country(report.store)
    store = report.store
    sums = tax_sums(extent)
    context = {
        "report": report,
        "merchant": store.brand_name or store.name,
        "zone": report.time_zone or UTC_NAME,
        "until": f"{report.until.astimezone(zone_named(report.time_zone)):%Y-%m-%d %H:%M}"
        if report.until
        else "",
        "rows": [
            {
                "sum": tax,
                "percent": percent_of(tax.rate_bps) if tax.category else "",
                "tax_country": tax.tax_country(country),
                "case": tax.case.replace("_", " "),
            }
            for tax in sums
        ],
        "totals": totals_of(sums),
        "supplies": supply_sums(extent),
        "is_service_shown": not store.remove_service_branding,
    }
    with Process() as drawing:
        drawing.listing(render_to_string("pdf/tax_report.html", context), [], 1, file)
