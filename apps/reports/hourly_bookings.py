"""Hourly sums of the entries of a store's long accounts by kind and currency, with their fees and
values: statements show a range without reading its entries.

An entry is in its hour's sum or after the account's place, never in both. A place stops before an
entry whose rate may still change: one of a day without a rate of its own that isn't over.
"""

from datetime import timedelta

from django.db import connection

from apps.core import clock
from apps.core.db.sql import Arguments
from apps.core.marks import ReadingMark
from apps.core.rows import Job
from apps.ledger.long_tails import TAIL_MAX, LongTails
from apps.reports.models import HourlyBooking, HourlyBookingPlace
from apps.reports.worth import (
    BOOK_CENTS,
    BOOK_FEES,
    BOOK_RATE,
    BOOK_RATES,
    CENTS,
    CURRENCY,
    RATES,
)

ENTRIES_AT_ONCE = 50_000
# Another process may still write the first rate of a day that has just ended.
RATES_AFTER = timedelta(days=1)
JOB = Job("reports.sum_bookings", limit=500)
TAILS = LongTails(
    JOB,
    ReadingMark(f"{JOB.name}:read"),
    accounts="ledger_account a LEFT JOIN reports_hourlybookingplace p ON p.account_id = a.id"
    " WHERE a.store_id IS NOT NULL",
    tail="e.account_id = a.id AND e.id > coalesce(p.newest_id, 0)",
)


def sum_bookings(tail_max: int = TAIL_MAX) -> int:
    """Bring the sums of accounts with more than `tail_max` entries after their place up to date;
    how many there were."""
    return TAILS.each(sum_account, tail_max, ENTRIES_AT_ONCE)


_STORE = """
SELECT s.settlement_currency, ledger_settled_until(a.id)
FROM ledger_account a JOIN stores_store s ON s.id = a.store_id WHERE a.id = %s
"""
_SUM = f"""
WITH taken AS (
    SELECT e.id, e.movement_id, e.asset_id, e.amount_atomic, e.role FROM ledger_entry e
    WHERE e.account_id = %(account)s AND e.id > %(id)s AND e.id <= %(until)s
    ORDER BY e.id LIMIT %(limit)s
), told AS MATERIALIZED (
    SELECT e.id, date_trunc('hour', m.at, 'UTC') AS hour, m.kind,
        coalesce(p.settlement_currency, '') AS currency, e.amount_atomic AS amount,
        coalesce(fee.atomic, 0) AS fee, coalesce({CENTS}, 0) AS cents,
        coalesce(fee.cents, 0) AS fee_cents,
        (coalesce(k.exchange_rate, d.rate) IS NULL)::int AS unvalued,
        coalesce({BOOK_CENTS}, 0) AS book_cents, coalesce(fee.book_cents, 0) AS book_fee_cents,
        (({BOOK_RATE}) IS NULL)::int AS book_unvalued,
        day.day < %(final_before)s OR (
            k.id IS NOT NULL OR EXISTS (
                SELECT FROM assets_dailyrate f WHERE f.asset_id = e.asset_id
                AND f.currency = currency.code AND f.day = day.day)
        ) AND (
            currency.code = %(store_currency)s OR EXISTS (
                SELECT FROM assets_dailyrate f WHERE f.asset_id = e.asset_id
                AND f.currency = %(store_currency)s AND f.day = day.day)
        ) AS is_final
    FROM taken e JOIN ledger_movement m ON m.id = e.movement_id
    JOIN assets_asset s ON s.id = e.asset_id
    LEFT JOIN payments_payment p ON p.id = m.reference
    CROSS JOIN LATERAL (SELECT (m.at AT TIME ZONE 'UTC')::date AS day) day
    {CURRENCY} {RATES.format(condition="true")} {BOOK_RATES.format(condition="true")}
    {BOOK_FEES.format(condition="true")}
), ready AS (
    SELECT * FROM told
    WHERE id < coalesce((SELECT min(id) FROM told WHERE NOT is_final), 9223372036854775807)
), summed AS (
    INSERT INTO reports_hourlybooking AS known (account_id, is_day, hour, kind, currency, entries,
        in_atomic, out_atomic, fee_atomic, cents, fee_cents, unvalued, book_cents, book_fee_cents,
        book_unvalued, first_id, last_id)
    SELECT %(account)s, span.is_day, span.begin, kind, currency, count(*),
        coalesce(sum(amount) FILTER (WHERE amount > 0), 0),
        coalesce(sum(amount) FILTER (WHERE amount < 0), 0), sum(fee), sum(cents), sum(fee_cents),
        sum(unvalued), sum(book_cents), sum(book_fee_cents), sum(book_unvalued), min(id), max(id)
    FROM ready CROSS JOIN LATERAL (
        VALUES (false, hour), (true, date_trunc('day', hour, 'UTC'))) span (is_day, begin)
    GROUP BY 2, 3, 4, 5
    ON CONFLICT (account_id, is_day, hour, kind, currency) DO UPDATE SET
        entries = known.entries + excluded.entries,
        in_atomic = known.in_atomic + excluded.in_atomic,
        out_atomic = known.out_atomic + excluded.out_atomic,
        fee_atomic = known.fee_atomic + excluded.fee_atomic,
        cents = known.cents + excluded.cents,
        fee_cents = known.fee_cents + excluded.fee_cents,
        unvalued = known.unvalued + excluded.unvalued,
        book_cents = known.book_cents + excluded.book_cents,
        book_fee_cents = known.book_fee_cents + excluded.book_fee_cents,
        book_unvalued = known.book_unvalued + excluded.book_unvalued,
        first_id = least(known.first_id, excluded.first_id),
        last_id = greatest(known.last_id, excluded.last_id)
)
UPDATE reports_hourlybookingplace p SET newest_id = newest.id
FROM (SELECT max(id) AS id FROM ready) newest WHERE p.account_id = %(account)s AND newest.id > 0
"""  # noqa: S608  # only fragments of ours are put in


def sum_account(account_id: int) -> None:
    """Add an account's entries after its place to the sums of their hours, ENTRIES_AT_ONCE of them.
    Anyone who comes meanwhile waits. Within a transaction."""
    HourlyBookingPlace.objects.bulk_create(
        [HourlyBookingPlace(account_id=account_id)], ignore_conflicts=True
    )
    place = HourlyBookingPlace.objects.select_for_update().get(pk=account_id)
    with connection.cursor() as cursor:
        cursor.execute(_STORE, [account_id])
        currency, until = cursor.fetchone()
    if place.currency != currency or _has_sums_of_before(account_id):
        # The books' currency is another one now, or a process of before summed without it.
        HourlyBooking.objects.filter(account_id=account_id).delete()
        place.currency, place.newest_id = currency, 0
        place.save()
    # An entry that has to wait is found before the others are read.
    if _take(place, until, 1):
        _take(place, until, ENTRIES_AT_ONCE)


def _has_sums_of_before(account_id: int) -> bool:
    return HourlyBooking.objects.filter(account_id=account_id, book_cents=None).exists()


def _take(place: HourlyBookingPlace, until: int, limit: int) -> bool:
    values: Arguments = {
        "account": place.account_id,
        "id": place.newest_id,
        "until": until,
        "limit": limit,
        "store_currency": place.currency,
        "final_before": (clock.real_now() - RATES_AFTER).date(),
    }
    with connection.cursor() as cursor:
        cursor.execute(_SUM, values)
        has_moved = bool(cursor.rowcount)
    if has_moved:
        place.refresh_from_db()
    return has_moved
