"""Contents of a report: sums per asset and kind, and every entry of a store in a range of days.

Each entry is valued at the rate locked for its payment, else at the first rate of its day; the rate
and its source go with it. A payment's net is worth what the payment's own page says.
"""

import uuid
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, time, timedelta, tzinfo
from decimal import Decimal
from typing import Any, NamedTuple

from django.db import connection

from apps.core.db.replica import complete_until, reads_may_lag
from apps.core.db.streams import rows_of
from apps.core.db.timeouts import long_statements
from apps.core.text.days import zone_named
from apps.payments.daily_sums import AFTER_PLACE, PLACE
from apps.reports.invoice_notes import NO_INVOICE, batches, notes_of
from apps.reports.models import Report
from apps.reports.worth import (
    BOOK_FEES,
    BOOK_RATE,
    BOOK_RATES,
    COSTS,
    CURRENCY,
    RATES,
    worth_cents,
)

MOMENT = timedelta(microseconds=1)


@dataclass(frozen=True)
class Extent:
    """The store, and the entries: `currency` is empty for all. What belongs to no payment counts as
    the store's own currency."""

    store_id: uuid.UUID
    mode: str
    currency: str
    store_currency: str
    starts_at: datetime
    ends_at: datetime
    # Whose days the dates of entries are.
    zone: tzinfo = UTC

    @classmethod
    def of(cls, report: Report) -> "Extent":
        """Days are UTC's unless a zone is named; dates are the store's then."""
        zone = zone_named(report.time_zone)
        first = midnight(report.period_from, zone)
        last = midnight(report.period_to + timedelta(days=1), zone)
        if report.until is not None:
            # Yesterday isn't closed before noon, and ends at its midnight all the same.
            last = min(last, report.until)
        return cls(
            report.store_id,
            report.mode,
            report.currency,
            report.store.settlement_currency,
            first,
            last,
            zone_named(report.time_zone or report.store.time_zone),
        )

    def day(self, at: datetime) -> date:
        """Date of a moment, for the books."""
        return at.astimezone(self.zone).date()

    def arguments(self) -> dict[str, str | date | datetime | uuid.UUID]:
        return {
            "store": self.store_id,
            "mode": self.mode,
            "currency": self.currency,
            "store_currency": self.store_currency,
            "starts": self.starts_at,
            "ends": self.ends_at,
            "first_day": self.first_day,
            "first_midnight": midnight(self.first_day),
            "end_day": (self.ends_at - MOMENT).astimezone(UTC).date() + timedelta(days=1),
        }

    @property
    def first_day(self) -> date:
        """Of UTC, as sums of days are."""
        try:
            return self.starts_at.astimezone(UTC).date()
        except OverflowError:  # east of Greenwich the first day that there is begins before it
            return date.min


def midnight(day: date, zone: tzinfo = UTC) -> datetime:
    return datetime.combine(day, time(), zone)


class AccountAmounts(NamedTuple):
    """Atomic units in the accounts of a store: three of what is held here, and the memo accounts of
    what came to its own wallet, which are in no total."""

    available: int = 0
    held: int = 0
    reserved: int = 0
    own_pending: int = 0
    own_received: int = 0
    own_fees_due: int = 0

    @property
    def here(self) -> tuple[int, ...]:
        """Amounts that are held, and their sum."""
        return self.available, self.held, self.reserved, self.total

    @property
    def own(self) -> tuple[int, ...]:
        return self.own_pending, self.own_received, self.own_fees_due

    @property
    def total(self) -> int:
        return self.available + self.held + self.reserved

    def plus(self, other: "AccountAmounts") -> "AccountAmounts":
        return AccountAmounts._make(map(sum, zip(self, other, strict=True)))


NOTHING = AccountAmounts()


@dataclass(frozen=True)
class KindSum:
    """All movements of a kind in the range, and those of them that touch what is held here or
    what is in the own wallet."""

    kind: str
    movements: int
    here_movements: int
    own_movements: int
    entries: int
    amounts: AccountAmounts


@dataclass
class AssetSums:
    """An asset of the store: what was there, what moved, what is there; opening plus sums is
    closing, to the atomic unit."""

    asset_id: str
    atomic_decimals: int
    opening: AccountAmounts = NOTHING
    sums: list[KindSum] = field(default_factory=list)

    @property
    def closing(self) -> AccountAmounts:
        amounts = self.opening
        for total in self.sums:
            amounts = amounts.plus(total.amounts)
        return amounts


# The entries that may be in the range: those between the first and the last of its days, and those
# that are in no daily sum.
_FROM = f"""
FROM ledger_account a {PLACE}
CROSS JOIN LATERAL (
    SELECT min(t.first_id) AS first, max(t.last_id) AS last
    FROM payments_dailysum t WHERE t.account_id = a.id AND t.day >= %(first_day)s
        AND t.day < %(end_day)s
) span
JOIN LATERAL (
    SELECT e.* FROM ledger_entry e WHERE e.account_id = a.id
        AND e.id >= span.first AND e.id <= span.last AND e.id <= place.id
    UNION ALL SELECT e.* FROM ledger_entry e WHERE {AFTER_PLACE}
) e ON true
JOIN ledger_movement m ON m.id = e.movement_id
JOIN assets_asset s ON s.id = e.asset_id
LEFT JOIN payments_payment p ON p.id = m.reference
{CURRENCY}
"""  # noqa: S608  # only fragments of ours are put in
_WHERE = """
WHERE a.store_id = %(store)s AND a.mode = %(mode)s AND m.at < %(ends)s
    AND (%(currency)s = '' OR currency.code = %(currency)s)
"""
_AMOUNTS = ",\n".join(
    f"       coalesce(sum(l.amount_atomic) FILTER (WHERE l.account = '{account}'), 0)"
    for account in AccountAmounts._fields
)
# What was there before the range is the sum of earlier days, of earlier entries of the day of UTC
# that it begins within, and of earlier entries after the place.
_SUMS = f"""
SELECT l.asset_id, l.atomic_decimals, l.kind, count(DISTINCT l.movement_id),
    count(DISTINCT l.movement_id) FILTER (WHERE l.account NOT LIKE 'own\\_%%'),
    count(DISTINCT l.movement_id) FILTER (WHERE l.account LIKE 'own\\_%%'), sum(l.entries),
{_AMOUNTS}
FROM (
    SELECT e.asset_id, s.atomic_decimals, s.position, m.kind, a.kind AS account,
        m.id AS movement_id, 1 AS entries, e.amount_atomic
    {_FROM} {_WHERE} AND m.at >= %(starts)s
    UNION ALL
    SELECT a.asset_id, s.atomic_decimals, s.position, '', a.kind, NULL, t.entries, t.amount_atomic
    FROM ledger_account a {PLACE}
    JOIN payments_dailysum t ON t.account_id = a.id AND place.id IS NOT NULL
        AND t.day < %(first_day)s
    JOIN assets_asset s ON s.id = a.asset_id
    WHERE a.store_id = %(store)s AND a.mode = %(mode)s AND (%(currency)s = ''
        OR coalesce(nullif(t.currency, ''), %(store_currency)s) = %(currency)s)
    UNION ALL
    SELECT e.asset_id, s.atomic_decimals, s.position, '', a.kind, m.id, 1, e.amount_atomic
    FROM ledger_account a {PLACE}
    CROSS JOIN LATERAL (
        SELECT min(t.first_id) AS first, max(t.last_id) AS last FROM payments_dailysum t
        WHERE t.account_id = a.id AND t.day = %(first_day)s
            AND %(first_midnight)s < %(starts)s
    ) span
    JOIN ledger_entry e ON e.account_id = a.id AND e.id >= span.first AND e.id <= span.last
        AND e.id <= place.id
    JOIN ledger_movement m ON m.id = e.movement_id
    JOIN assets_asset s ON s.id = e.asset_id
    LEFT JOIN payments_payment p ON p.id = m.reference
    {CURRENCY} {_WHERE} AND m.at < %(starts)s AND m.at >= %(first_midnight)s
    UNION ALL
    SELECT e.asset_id, s.atomic_decimals, s.position, '', a.kind, m.id, 1, e.amount_atomic
    FROM ledger_account a {PLACE}
    JOIN ledger_entry e ON {AFTER_PLACE}
    JOIN ledger_movement m ON m.id = e.movement_id
    JOIN assets_asset s ON s.id = e.asset_id
    LEFT JOIN payments_payment p ON p.id = m.reference
    {CURRENCY} {_WHERE} AND m.at < %(starts)s
) l GROUP BY 1, 2, 3, l.position ORDER BY l.position, 1, 3
"""  # noqa: S608  # only fragments of ours are put in


def asset_sums(extent: Extent) -> list[AssetSums]:
    """Every asset that the store ever had an entry in, in the order of the assets."""
    with complete_until(extent.ends_at):
        return _asset_sums(extent)


@reads_may_lag("days that are closed")
def _asset_sums(extent: Extent) -> list[AssetSums]:
    by_asset: dict[str, AssetSums] = {}
    with long_statements(), connection.cursor() as cursor:
        cursor.execute(_SUMS, extent.arguments())
        for asset_id, decimals, kind, every, here, own, entries, *amounts in cursor.fetchall():
            sums = by_asset.setdefault(asset_id, AssetSums(asset_id, decimals))
            parts = AccountAmounts(*(int(amount) for amount in amounts))
            if kind:
                sums.sums.append(KindSum(kind, every, here, own, entries, parts))
            else:
                sums.opening = parts
    return list(by_asset.values())


class ReportLine(NamedTuple):
    """An entry of the range; `balance_atomic` is what its account held after it (under a currency
    filter: of that currency). Fees are those that the store bore with the entry."""

    entry_id: int
    movement_id: int
    at: datetime
    kind: str
    account: str
    asset_id: str
    atomic_decimals: int
    role: str
    amount_atomic: int
    balance_atomic: int
    currency: str
    value_cents: int | None
    rate: Decimal | None
    rate_source: str
    rate_at: datetime | None
    reference: uuid.UUID | None
    payment_reference: str
    order_id: str
    book_value_cents: int | None
    book_rate: Decimal | None
    book_rate_source: str
    service_fee_atomic: int
    platform_fee_atomic: int
    network_fee_atomic: int
    # Of the payment's invoice, empty where it has none.
    invoice: str
    invoice_tax: str


LINES = f"""
SELECT e.id, m.id, m.at, m.kind, a.kind, e.asset_id, s.atomic_decimals, e.role, e.amount_atomic,
    currency.code,
       coalesce(k.exchange_rate, d.rate), coalesce(k.rate_source, d.source, ''),
           coalesce(k.created_at, d.as_of),
       coalesce(fee.atomic, 0), coalesce(fee.cents, 0),
       m.reference, coalesce(p.reference, ''), coalesce(p.order_id, ''),
       {BOOK_RATE},
       CASE WHEN currency.code = %(store_currency)s THEN coalesce(k.rate_source, d.source, '')
           ELSE coalesce(b.source, '') END,
       coalesce(fee.book_cents, 0),
       coalesce(cost.service, 0), coalesce(cost.platform, 0), coalesce(cost.network, 0)
{_FROM} {RATES.format(condition="true")} {BOOK_RATES.format(condition="true")}
{BOOK_FEES.format(condition="true")} {COSTS}
{_WHERE} AND m.at >= %(starts)s ORDER BY m.at, m.id, e.id
"""


def lines(extent: Extent, sums: list[AssetSums]) -> Iterator[ReportLine]:
    """Every entry, oldest first, without keeping a transaction open meanwhile."""
    balances = {
        (total.asset_id, kind): getattr(total.opening, kind)
        for total in sums
        for kind in AccountAmounts._fields
    }
    rows = rows_of(LINES, extent.arguments(), extent.ends_at)
    for part in batches(_line(row, balances) for row in rows):
        notes = notes_of(line.payment_reference for line in part)
        for line in part:
            note = notes.get(line.payment_reference, NO_INVOICE)
            yield line._replace(invoice=note.number, invoice_tax=note.tax)
    if any(
        balances[total.asset_id, kind] != getattr(total.closing, kind)
        for total in sums
        for kind in AccountAmounts._fields
    ):
        raise FiguresDiffer


class FiguresDiffer(Exception):
    """The entries read don't lead from the opening balance to the closing one: something was booked
    into the range meanwhile."""


def _line(row: tuple[Any, ...], balances: dict[tuple[str, str], int]) -> ReportLine:
    entry = row[:8]  # as a line has it: its movement, time, kind, account, coin and role
    account, asset_id, decimals = row[4:7]
    atomic, currency, rate, source, rate_at, fee, fee_cents = row[8:15]
    references = row[15:18]
    book_rate, book_source, book_fee_cents, *costs = row[18:]
    amount = int(atomic)
    balances[asset_id, account] += amount

    def worth(at: Decimal | None, fees: int) -> int | None:
        return None if at is None else worth_cents(amount, at, decimals, int(fee), int(fees))

    valued = (currency, worth(rate, fee_cents), rate, source, rate_at)
    booked = (worth(book_rate, book_fee_cents), book_rate, book_source)
    return ReportLine._make(
        (
            *entry,
            amount,
            balances[asset_id, account],
            *valued,
            *references,
            *booked,
            *(int(cost) for cost in costs),
            *NO_INVOICE,
        )
    )


def newest(viewer: Any, limit: int) -> list[Report]:
    """The most recent reports of a store in a mode."""
    return list(Report.objects.visible_to(viewer).order_by("-created_at", "-id")[:limit])


def newest_closed(viewer: Any, limit: int) -> list[Report]:
    """The most recent ones of closed days, which are all that the API makes."""
    rows = Report.objects.visible_to(viewer).filter(is_so_far=False)
    return list(rows.order_by("-created_at", "-id")[:limit])
