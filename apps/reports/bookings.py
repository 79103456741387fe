"""Value of a store's entries when they were booked, the fee taken with them, and sums over a range.

The rate is the one that was locked for a payment, else the newest first rate of a day up to theirs:
the same that reports use.
"""

import uuid
from collections import defaultdict
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from decimal import Decimal
from typing import NamedTuple

from django.db import connection

from apps.core.db.sql import array
from apps.core.money import Fiat
from apps.ledger.statements import LineFilter
from apps.reports.worth import (
    BOOK_CENTS,
    BOOK_FEES,
    BOOK_RATE,
    BOOK_RATES,
    CENTS,
    CURRENCY,
    RATES,
    worth_cents,
)

Arguments = dict[str, str | int | uuid.UUID | datetime | None]
# Of the entries of an account that are in no sum of an hour, so many are added up, the newest ones.
SUMMED_MAX = 10_000


@dataclass(frozen=True)
class EntryValue:
    """`fee_atomic` was taken before the amount of the entry; `rate` is None where nobody knows what
    a coin was worth, and so is `book_rate` in the books' currency."""

    currency: str
    rate: Decimal | None
    rate_source: str
    fee_atomic: int
    fee_cents: int
    atomic_decimals: int
    book_currency: str
    book_rate: Decimal | None
    book_rate_source: str
    book_fee_cents: int

    def worth(self, amount_atomic: int) -> Fiat | None:
        """Of the entry, with its fees taken."""
        if self.rate is None:
            return None
        fees = (self.fee_atomic, self.fee_cents)
        return Fiat(
            worth_cents(amount_atomic, self.rate, self.atomic_decimals, *fees), self.currency
        )

    @property
    def fee_worth(self) -> Fiat | None:
        return None if self.rate is None else Fiat(self.fee_cents, self.currency)

    def book_worth(self, amount_atomic: int) -> Fiat | None:
        """Of the entry in the books' currency, with its fees taken."""
        if self.book_rate is None:
            return None
        fees = (self.fee_atomic, self.book_fee_cents)
        cents = worth_cents(amount_atomic, self.book_rate, self.atomic_decimals, *fees)
        return Fiat(cents, self.book_currency)

    @property
    def book_fee_worth(self) -> Fiat | None:
        return None if self.book_rate is None else Fiat(self.book_fee_cents, self.book_currency)


_BOOKINGS = f"""
SELECT e.id, currency.code, coalesce(k.exchange_rate, d.rate),
    coalesce(k.rate_source, d.source, ''), coalesce(fee.atomic, 0),
    coalesce(fee.cents, 0), s.atomic_decimals, {BOOK_RATE},
    CASE WHEN currency.code = %(store_currency)s THEN coalesce(k.rate_source, d.source, '')
        ELSE coalesce(b.source, '') END, coalesce(fee.book_cents, 0)
FROM ledger_entry e
JOIN ledger_account a ON a.id = e.account_id AND a.store_id = %(store)s AND a.mode = %(mode)s
JOIN ledger_movement m ON m.id = e.movement_id
JOIN assets_asset s ON s.id = e.asset_id
LEFT JOIN payments_payment p ON p.id = m.reference
{CURRENCY} {RATES.format(condition="true")} {BOOK_RATES.format(condition="true")}
{BOOK_FEES.format(condition="true")}
WHERE e.id = ANY (%(entries)s::bigint[])
"""  # noqa: S608  # only fragments of ours are put in


def bookings_of(
    store_id: uuid.UUID, mode: str, currency: str, entry_ids: Iterable[int]
) -> dict[int, EntryValue]:
    """By entry, of the store's own alone. What serves no payment is valued in `currency`. One
    question for all."""
    entries = array(entry_ids)
    arguments: Arguments = {
        "store": store_id,
        "mode": mode,
        "store_currency": currency,
        "entries": entries,
    }
    with connection.cursor() as cursor:
        cursor.execute(_BOOKINGS, arguments)
        return {
            entry: EntryValue(
                code,
                rate,
                source,
                int(fee),
                int(fee_cents),
                decimals,
                currency,
                book_rate,
                book_source,
                int(book_fee),
            )
            for (
                entry,
                code,
                rate,
                source,
                fee,
                fee_cents,
                decimals,
                book_rate,
                book_source,
                book_fee,
            ) in cursor.fetchall()
        }


@dataclass
class BookingSums:
    """A coin in a range: what was there, came in, went out, and is there; what of it is valued, by
    currency, in cents.

    `is_whole` is False when the account has more entries in no sum than are added up; then there
    are no balances. `unvalued` entries have no known rate, and `book_unvalued` none in the books'
    currency, in which all else comes to `book_cents`.
    """

    asset_id: str
    atomic_decimals: int
    entries: int = 0
    in_atomic: int = 0
    out_atomic: int = 0
    fee_atomic: int = 0
    opening_atomic: int = 0
    closing_atomic: int = 0
    is_whole: bool = True
    worth: dict[str, int] = field(default_factory=dict)
    fees_worth: dict[str, int] = field(default_factory=dict)
    unvalued: int = 0
    book_cents: int = 0
    book_fee_cents: int = 0
    book_unvalued: int = 0

    @property
    def net_atomic(self) -> int:
        return self.in_atomic + self.out_atomic


# Sums of days, of the hours of a day that the range begins or ends within, and the entries that are
# in none, or in one of such an hour: all in one statement, as a place may move between two.
_SUMS = f"""
WITH account AS MATERIALIZED (
    SELECT a.id, a.asset_id, ledger_balance(a.id) AS balance, nullif(p.newest_id, 0) AS place
    FROM ledger_account a LEFT JOIN reports_hourlybookingplace p
        ON p.account_id = a.id AND p.currency = %(store_currency)s
    WHERE a.store_id = %(store)s AND a.mode = %(mode)s AND a.kind = %(account)s
), kept AS (
    SELECT a.asset_id, a.balance, h.entries, h.in_atomic, h.out_atomic, h.fee_atomic, h.cents,
        h.fee_cents, h.unvalued, h.book_cents, h.book_fee_cents, h.book_unvalued,
        coalesce(nullif(h.currency, ''), %(store_currency)s) AS code,
        (%(since)s::timestamptz IS NULL OR h.hour >= %(since)s) AS is_since,
        (%(until)s::timestamptz IS NULL OR h.hour < %(until)s) AS is_until,
        (%(kind)s = '' OR h.kind = %(kind)s) AS is_kind
    FROM account a CROSS JOIN LATERAL (
        SELECT * FROM reports_hourlybooking d WHERE d.account_id = a.id AND d.is_day
            AND d.hour >= coalesce(%(since)s::timestamptz, '-infinity')
            AND d.hour <> ALL (%(days)s::timestamptz[])
        UNION ALL
        SELECT * FROM reports_hourlybooking o WHERE o.account_id = a.id AND NOT o.is_day
            AND o.hour = ANY (%(hours)s::timestamptz[])
    ) h
    WHERE a.place IS NOT NULL
), scanned AS (
    SELECT a.asset_id, a.balance, e.id, e.movement_id, e.amount_atomic, e.role, true AS is_tail,
        NULL::timestamptz AS hour
    FROM account a CROSS JOIN LATERAL (
        SELECT o.id, o.movement_id, o.amount_atomic, o.role FROM ledger_entry o
        WHERE o.account_id = a.id AND o.id > coalesce(a.place, 0) ORDER BY o.id DESC LIMIT %(scan)s
    ) e
    UNION ALL
    SELECT a.asset_id, a.balance, o.id, o.movement_id, o.amount_atomic, o.role, false, edge.hour
    FROM account a CROSS JOIN LATERAL (
        SELECT h.hour, min(h.first_id) AS first_id, max(h.last_id) AS last_id
        FROM reports_hourlybooking h WHERE h.account_id = a.id AND a.place IS NOT NULL
            AND NOT h.is_day AND h.hour = ANY (%(edges)s::timestamptz[]) GROUP BY h.hour
    ) edge JOIN ledger_entry o ON o.account_id = a.id AND o.id >= edge.first_id
        AND o.id <= edge.last_id
), e AS (
    SELECT c.*, (%(since)s::timestamptz IS NULL OR m.at >= %(since)s) AS is_since,
           (%(until)s::timestamptz IS NULL OR m.at < %(until)s) AS is_until, (%(kind)s = ''
               OR m.kind = %(kind)s) AS is_kind
    FROM scanned c JOIN ledger_movement m ON m.id = c.movement_id
    WHERE c.is_tail OR date_trunc('hour', m.at, 'UTC') = c.hour
)
SELECT found.asset_id, s.atomic_decimals, found.balance, found.code, found.is_kept, found.tail,
    found.is_before, found.entries, found.went_in, found.went_out, found.fee, found.later,
    found.within, found.cents, found.fee_cents, found.unvalued, found.book_cents,
    found.book_fee_cents, found.book_unvalued
FROM (
    SELECT e.asset_id, min(e.balance) AS balance, currency.code, false AS is_kept,
        count(*) FILTER (WHERE is_tail) AS tail,
        coalesce(bool_or(NOT is_since) FILTER (WHERE is_tail), false) AS is_before,
        count(*) FILTER (WHERE is_since AND is_until AND is_kind) AS entries,
        coalesce(sum(e.amount_atomic)
            FILTER (WHERE is_since AND is_until AND is_kind AND e.amount_atomic > 0), 0) AS went_in,
        coalesce(sum(e.amount_atomic)
            FILTER (WHERE is_since AND is_until AND is_kind AND e.amount_atomic < 0), 0)
            AS went_out,
        coalesce(sum(fee.atomic), 0) AS fee,
        coalesce(sum(e.amount_atomic) FILTER (WHERE NOT is_until), 0) AS later,
        coalesce(sum(e.amount_atomic) FILTER (WHERE is_since AND is_until), 0) AS within,
        coalesce(sum({CENTS}), 0) AS cents,
        coalesce(sum(fee.cents), 0) AS fee_cents,
        count(*) FILTER (WHERE is_since AND is_until AND is_kind
            AND coalesce(k.exchange_rate, d.rate) IS NULL) AS unvalued,
        coalesce(sum({BOOK_CENTS}), 0) AS book_cents,
        coalesce(sum(fee.book_cents), 0) AS book_fee_cents,
        count(*) FILTER (WHERE is_since AND is_until AND is_kind
            AND ({BOOK_RATE}) IS NULL) AS book_unvalued
    FROM e
    JOIN ledger_movement m ON m.id = e.movement_id
    JOIN assets_asset s ON s.id = e.asset_id
    LEFT JOIN payments_payment p ON p.id = m.reference AND is_since AND is_until AND is_kind
    {CURRENCY} {RATES.format(condition="is_since AND is_until AND is_kind")}
    {BOOK_RATES.format(condition="is_since AND is_until AND is_kind")}
    {BOOK_FEES.format(condition="is_since AND is_until AND is_kind")}
    GROUP BY e.asset_id, currency.code
    UNION ALL
    SELECT asset_id, min(balance), code, true, 0, false,
        coalesce(sum(entries) FILTER (WHERE is_since AND is_until AND is_kind), 0)::bigint,
        coalesce(sum(in_atomic) FILTER (WHERE is_since AND is_until AND is_kind), 0),
        coalesce(sum(out_atomic) FILTER (WHERE is_since AND is_until AND is_kind), 0),
        coalesce(sum(fee_atomic) FILTER (WHERE is_since AND is_until AND is_kind), 0),
        coalesce(sum(in_atomic + out_atomic) FILTER (WHERE NOT is_until), 0),
        coalesce(sum(in_atomic + out_atomic) FILTER (WHERE is_since AND is_until), 0),
        coalesce(sum(cents) FILTER (WHERE is_since AND is_until AND is_kind), 0),
        coalesce(sum(fee_cents) FILTER (WHERE is_since AND is_until AND is_kind), 0),
        coalesce(sum(unvalued) FILTER (WHERE is_since AND is_until AND is_kind), 0)::bigint,
        coalesce(sum(book_cents) FILTER (WHERE is_since AND is_until AND is_kind), 0),
        coalesce(sum(book_fee_cents) FILTER (WHERE is_since AND is_until AND is_kind), 0),
        coalesce(sum(CASE WHEN book_cents IS NULL THEN entries ELSE book_unvalued END)
            FILTER (WHERE is_since AND is_until AND is_kind), 0)::bigint
    FROM kept GROUP BY asset_id, code
    UNION ALL
    SELECT asset_id, balance, %(store_currency)s, true, 0, false, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0
    FROM account WHERE place IS NOT NULL
) found JOIN assets_asset s ON s.id = found.asset_id
ORDER BY s.position, found.asset_id, found.code
"""  # noqa: S608  # only fragments of ours are put in


class _Part(NamedTuple):
    """Of a coin, of one currency: what is kept of hours, or entries."""

    atomic_decimals: int
    balance: int
    code: str
    is_kept: bool
    tail: int
    is_before: bool
    entries: int
    in_atomic: int
    out_atomic: int
    fee_atomic: int
    later: int
    within: int
    cents: int
    fee_cents: int
    unvalued: int
    book_cents: int
    book_fee_cents: int
    book_unvalued: int


def sums_of(
    store_id: uuid.UUID,
    mode: str,
    currency: str,
    account: str,
    criteria: LineFilter,
    *,
    scan: int | None = None,
) -> list[BookingSums]:
    """Of every coin that the store has such an account of, in the order of the assets. One
    question; what is in no sum of an hour is added up to SUMMED_MAX entries of an account, or
    `scan`."""
    scan = scan or SUMMED_MAX
    arguments: Arguments = {"store": store_id, "mode": mode, "store_currency": currency}
    arguments |= {"account": account, "scan": scan, **_edges(criteria)}
    arguments |= {"kind": criteria.kind, "since": criteria.since, "until": criteria.until}
    by_asset: dict[str, list[_Part]] = defaultdict(list)
    with connection.cursor() as cursor:
        cursor.execute(_SUMS, arguments)
        for asset_id, *values in cursor.fetchall():
            by_asset[asset_id].append(_Part(*values))
    return [_sums(asset_id, parts, scan) for asset_id, parts in by_asset.items()]


def _edges(criteria: LineFilter) -> dict[str, str]:
    """The days (UTC) that the range begins or ends within, their hours, and of these apart those
    that it begins or ends within."""
    days: set[datetime] = set()
    edges: set[datetime] = set()
    for moment in (criteria.since, criteria.until):
        if moment is not None:
            with suppress(OverflowError):  # before or after all that is booked
                hour = moment.astimezone(UTC).replace(minute=0, second=0, microsecond=0)
                edges |= {hour} - {moment}
                days |= {hour.replace(hour=0)} - {moment}
    hours = {day.replace(hour=hour) for day in days for hour in range(24)} - edges
    return {"days": array(days), "hours": array(hours), "edges": array(edges)}


def _sums(asset_id: str, parts: list[_Part], scan: int) -> BookingSums:
    sums = BookingSums(asset_id, parts[0].atomic_decimals)
    is_cut = sum(part.tail for part in parts) >= scan
    sums.is_whole = not is_cut or any(part.is_before for part in parts)
    # Of a tail that is cut, what came before it would be without what is missing between.
    counted = [part for part in parts if sums.is_whole or not part.is_kept]
    for part in counted:
        sums.entries += part.entries
        sums.in_atomic += int(part.in_atomic)
        sums.out_atomic += int(part.out_atomic)
        sums.fee_atomic += int(part.fee_atomic)
        sums.unvalued += part.unvalued
        sums.book_cents += int(part.book_cents)
        sums.book_fee_cents += int(part.book_fee_cents)
        sums.book_unvalued += part.book_unvalued
        if part.entries:
            sums.worth[part.code] = sums.worth.get(part.code, 0) + int(part.cents)
            sums.fees_worth[part.code] = sums.fees_worth.get(part.code, 0) + int(part.fee_cents)
    sums.closing_atomic = int(parts[0].balance) - sum(int(part.later) for part in counted)
    sums.opening_atomic = sums.closing_atomic - sum(int(part.within) for part in counted)
    return sums
