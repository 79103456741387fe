"""Taxes of the invoices issued on a report's days: those of the tax report, to the cent."""

from collections.abc import Sequence

from apps.billing.tax_report import RateSum, TaxExtent, TaxSum, rate_sums
from apps.billing.taxes.choosing import seller_country
from apps.reports.models import Report
from apps.reports.selectors import Extent


def tax_extent_of(report: Report) -> TaxExtent:
    """The invoices that a report is about."""
    return TaxExtent(
        report.store_id,
        report.mode,
        report.period_from,
        report.period_to,
        Extent.of(report).ends_at,
        report.currency,
        report.until,
    )


def rate_sums_of(report: Report) -> list[RateSum]:
    """By currency, country of the tax, category and rate."""
    return rate_sums(tax_extent_of(report), seller_country(report.store))


def totals_of(sums: Sequence[TaxSum | RateSum]) -> list[tuple[str, int, int]]:
    """Base and tax of each currency."""
    totals: dict[str, tuple[int, int]] = {}
    for tax in sums:
        base, cents = totals.get(tax.currency, (0, 0))
        totals[tax.currency] = base + tax.base_cents, cents + tax.tax_cents
    return [(currency, base, cents) for currency, (base, cents) in sorted(totals.items())]
