"""Taxes of a store's invoices by month, for its return: what was billed less what was taken back.

An invoice counts in the month of its day of issue, whatever becomes of it; a credit note in the
month of its own. An invoice that is void was taken back as a whole on the day it was voided, so
that its credit notes take back nothing more.
"""

import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any, NamedTuple

from django.db import connection

from apps.billing.models.tax import TaxCase, percent_of
from apps.core.db.replica import complete_until, reads_may_lag
from apps.core.db.timeouts import long_statements


@dataclass(frozen=True)
class TaxExtent:
    """The invoices of a store issued from the first day to the last, or before `until`; `currency`
    is empty for all. Days are those of each invoice."""

    store_id: uuid.UUID
    mode: str
    first: date
    last: date
    # All of it had happened by then.
    ends_at: datetime
    currency: str = ""
    until: datetime | None = None

    def arguments(self) -> Mapping[str, Any]:
        return {
            "store": self.store_id,
            "mode": self.mode,
            "first": self.first,
            "last": self.last,
            "currency": self.currency,
            "until": self.until,
        }


class TaxSum(NamedTuple):
    """Of a month (its first day), a currency, the buyer's country, the usual case, a category and a
    rate. `country` and `case` are empty where nobody said them, `category` where no tax was said.
    Cents are negative when more was taken back than billed."""

    month: date
    currency: str
    country: str
    case: str
    category: str
    rate_bps: int
    invoices: int
    credit_notes: int
    base_cents: int
    tax_cents: int

    def tax_country(self, seller_country: str) -> str:
        """The country whose tax it is: the buyer's for consumers abroad (One Stop Shop); empty
        where no tax is charged, or nobody knows the seller's."""
        if not self.rate_bps:
            return ""
        return self.country if self.case == TaxCase.EU_CONSUMER else seller_country


class RateSum(NamedTuple):
    """Of a whole period: a currency, the country whose tax it is, a category and a rate."""

    currency: str
    tax_country: str
    category: str
    rate_bps: int
    invoices: int
    credit_notes: int
    base_cents: int
    tax_cents: int

    @property
    def percent(self) -> str:
        """Empty where no tax was said."""
        return percent_of(self.rate_bps) if self.category else ""


class SupplySum(NamedTuple):
    """Sales without tax to a business abroad in a month, by its VAT number and category, for the
    recapitulative statement."""

    month: date
    currency: str
    vat_number: str
    category: str
    base_cents: int


# An invoice by its taxes; last what it says no tax of. One from before its taxes were written has
# one rate of its own at most.
_GROUPS = """
SELECT t.category, t.rate_bps, t.base_cents, t.tax_cents
FROM billing_invoicetax t WHERE t.invoice_id = i.id
UNION ALL
SELECT CASE WHEN i.tax_rate_bps IS NULL OR said.taxes > 0 THEN ''
            WHEN i.tax_rate_bps = 0 THEN 'Z' ELSE 'S' END,
    CASE WHEN said.taxes > 0 THEN 0 ELSE coalesce(i.tax_rate_bps, 0) END,
    i.subtotal_cents - i.discount_cents - said.base_cents, i.tax_cents - said.tax_cents
FROM (
    SELECT count(*) AS taxes, coalesce(sum(t.base_cents), 0) AS base_cents,
        coalesce(sum(t.tax_cents), 0) AS tax_cents
    FROM billing_invoicetax t WHERE t.invoice_id = i.id
) said
WHERE said.taxes = 0 OR i.subtotal_cents - i.discount_cents <> said.base_cents
"""
_ZONE = "coalesce(nullif(i.time_zone, ''), 'UTC')"
_PARTY = """
    i.currency, coalesce(i.tax_case, '') AS tax_case,
    CASE WHEN i.buyer IS NULL THEN coalesce(c.country, '')
         ELSE coalesce(i.buyer->>'country', '') END AS country,
    CASE WHEN i.buyer IS NULL THEN coalesce(c.vat_number, '')
         ELSE coalesce(i.buyer->>'vat_number', '') END AS vat_number
"""
_ISSUED_ON = f"coalesce(i.issued_on, (i.finalized_at AT TIME ZONE {_ZONE})::date)"
_VOIDED_ON = f"(i.voided_at AT TIME ZONE {_ZONE})::date"
_OF_STORE = """
    i.store_id = %(store)s AND i.mode = %(mode)s AND i.number IS NOT NULL
    AND (%(currency)s = '' OR i.currency = %(currency)s)
"""
_PARTS = f"""
WITH billed AS (
    SELECT i.id, {_PARTY}, g.*, i.finalized_at, i.voided_at,
        {_ISSUED_ON} AS issued_on, {_VOIDED_ON} AS voided_on
    FROM billing_invoice i
    JOIN billing_customer c ON c.id = i.customer_id
    CROSS JOIN LATERAL ({_GROUPS}) g
    WHERE {_OF_STORE} AND (
        {_ISSUED_ON} BETWEEN %(first)s AND %(last)s OR {_VOIDED_ON} BETWEEN %(first)s AND %(last)s
    )
),
parts AS (
    SELECT id, false AS is_back, issued_on AS day, finalized_at AS at, currency, tax_case,
        country, vat_number, category, rate_bps, base_cents, tax_cents
    FROM billed
    UNION ALL
    SELECT id, true, voided_on, voided_at, currency, tax_case, country, vat_number,
        category, rate_bps, -base_cents, -tax_cents
    FROM billed WHERE voided_at IS NOT NULL
    UNION ALL
    SELECT n.id, true, n.issued_on, n.created_at, billed.currency, billed.tax_case,
        billed.country, billed.vat_number, l.category, l.rate_bps, -l.net_cents, -l.tax_cents
    FROM billing_creditnote n
    JOIN billing_creditnoteline l ON l.credit_note_id = n.id
    JOIN (
        SELECT i.id, i.status, {_PARTY}
        FROM billing_invoice i JOIN billing_customer c ON c.id = i.customer_id WHERE {_OF_STORE}
    ) billed ON billed.id = n.invoice_id
    WHERE n.store_id = %(store)s AND n.mode = %(mode)s AND billed.status <> 'void'
),
counted AS (
    SELECT *, date_trunc('month', day)::date AS month FROM parts
    WHERE day >= %(first)s AND day <= %(last)s
        AND (%(until)s::timestamptz IS NULL OR at < %(until)s::timestamptz)
)
"""  # noqa: S608  # only fragments of ours are put in
_SUMS = f"""
{_PARTS}
SELECT month, currency, country, tax_case, category, rate_bps,
    count(DISTINCT id) FILTER (WHERE NOT is_back), count(DISTINCT id) FILTER (WHERE is_back),
    sum(base_cents), sum(tax_cents)
FROM counted GROUP BY 1, 2, 3, 4, 5, 6 ORDER BY 1, 2, 3, 4, 5, 6 DESC
"""  # noqa: S608  # only fragments of ours are put in
_SUPPLIES = f"""
{_PARTS}
SELECT month, currency, vat_number, category, sum(base_cents)
FROM counted WHERE category IN ('AE', 'K') GROUP BY 1, 2, 3, 4 ORDER BY 1, 2, 3, 4
"""  # noqa: S608  # only fragments of ours are put in


def tax_sums(extent: TaxExtent) -> list[TaxSum]:
    """By month, currency, country, case, category and rate."""
    with complete_until(extent.ends_at):
        return [TaxSum(*row[:8], *map(int, row[8:])) for row in _rows(_SUMS, extent)]


def rate_sums(extent: TaxExtent, seller_country: str) -> list[RateSum]:
    """Sums of whole periods, without months, countries and cases, as a statement has them."""
    counts: dict[tuple[str, str, str, int], list[int]] = {}
    for tax in tax_sums(extent):
        key = (tax.currency, tax.tax_country(seller_country), tax.category, tax.rate_bps)
        parts = (tax.invoices, tax.credit_notes, tax.base_cents, tax.tax_cents)
        counts[key] = [a + b for a, b in zip(counts.get(key, [0] * 4), parts, strict=True)]
    return [RateSum(*key, *counts[key]) for key in sorted(counts, key=lambda k: (*k[:3], -k[3]))]


def supply_sums(extent: TaxExtent) -> list[SupplySum]:
    """By month, currency, buyer's number and category (AE and K)."""
    with complete_until(extent.ends_at):
        return [SupplySum._make((*row[:4], int(row[4]))) for row in _rows(_SUPPLIES, extent)]


@reads_may_lag("invoices of days that are closed")
def _rows(statement: str, extent: TaxExtent) -> list[tuple[Any, ...]]:
    with long_statements(), connection.cursor() as cursor:
        cursor.execute(statement, extent.arguments())
        rows: list[tuple[Any, ...]] = cursor.fetchall()
    return rows
