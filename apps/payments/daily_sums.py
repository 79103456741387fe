"""Daily sums of the long accounts of stores: what reports and platforms read of entries that lie
far back. They change nothing that is read: an entry is in its day's sum or after the account's
place, never in both, and belongs to the day that its movement bears."""

from dataclasses import asdict, dataclass
from datetime import UTC, date, datetime, time, timedelta

from django.db import connection

from apps.core.db.sql import Arguments, array
from apps.core.marks import ReadingMark
from apps.core.rows import Job
from apps.ledger.long_tails import TAIL_MAX, LongTails
from apps.payments.models import DailySum, DailySumPlace

ENTRIES_AT_ONCE = 50_000
DAY = timedelta(days=1)
JOB = Job("payments.sum_days", limit=500)
MARK = ReadingMark("payments.sum_days:read")

# Of an account `a`: the entry up to which its sums go. Without one, all entries follow it.
PLACE = """
LEFT JOIN LATERAL (
    SELECT p.newest_id AS id FROM payments_dailysumplace p
    WHERE p.account_id = a.id AND p.newest_id > 0
) place ON true
"""
# Its entries that aren't in a sum.
AFTER_PLACE = "e.account_id = a.id AND e.id > coalesce(place.id, 0)"


@dataclass(frozen=True)
class Span:
    """A range of moments, both inclusive, as whole UTC days and the days that it begins or ends
    within."""

    begin: datetime
    end: datetime
    first_whole: date
    last_whole: date
    edges: tuple[date, ...]

    @classmethod
    def of(cls, begin: datetime, end: datetime) -> "Span":
        first = _in_utc(begin)
        last = _in_utc(end)
        is_from_midnight = first.time() == time.min
        is_to_midnight = last.time() == time.max
        edges = set() if is_from_midnight else {first.date()}
        edges |= set() if is_to_midnight else {last.date()}
        return cls(
            begin,
            end,
            first.date() + (timedelta(0) if is_from_midnight else DAY),
            last.date() - (timedelta(0) if is_to_midnight else DAY),
            tuple(sorted(edges)),
        )

    def arguments(self) -> Arguments:
        return {**asdict(self), "edges": array(self.edges)}


def _in_utc(moment: datetime) -> datetime:
    """Before the calendar ends."""
    try:
        return moment.astimezone(UTC)
    except OverflowError:
        return datetime.max.replace(tzinfo=UTC)


TAILS = LongTails(
    JOB,
    MARK,
    accounts=f"ledger_account a {PLACE} WHERE a.store_id IS NOT NULL",
    tail=AFTER_PLACE,
)


def sum_days(tail_max: int = TAIL_MAX) -> int:
    """Bring the sums of accounts with more than `tail_max` entries after their place up to date;
    how many there were. A run looks at the accounts that got entries since the last one."""
    return TAILS.each(sum_account, tail_max, ENTRIES_AT_ONCE)


# The place, and the entry before which no running transaction can still write another.
_PLACE_OF = f"""
SELECT place.id, ledger_settled_until(a.id) FROM ledger_account a {PLACE} WHERE a.id = %s
"""  # noqa: S608  # our own text
_SUM = """
WITH taken AS (
    SELECT e.id, e.movement_id, e.amount_atomic, e.role FROM ledger_entry e
    WHERE e.account_id = %(account)s AND e.id > %(id)s AND e.id <= %(until)s
    ORDER BY e.id LIMIT %(limit)s
), added AS (
    SELECT (m.at AT TIME ZONE 'UTC')::date AS day, coalesce(p.settlement_currency, '') AS currency,
        count(*) AS entries, sum(t.amount_atomic) AS amount,
        count(*) FILTER (WHERE t.role = 'platform_fee') AS fees,
        coalesce(sum(t.amount_atomic) FILTER (WHERE t.role = 'platform_fee'), 0) AS fee,
        min(t.id) AS first_id, max(t.id) AS last_id
    FROM taken t JOIN ledger_movement m ON m.id = t.movement_id
        LEFT JOIN payments_payment p ON p.id = m.reference
    GROUP BY 1, 2
), summed AS (
    INSERT INTO payments_dailysum AS known (account_id, day, currency, entries, amount_atomic,
        platform_fees, platform_fee_atomic, first_id, last_id)
    SELECT %(account)s, day, currency, entries, amount, fees, fee, first_id, last_id
    FROM added
    ON CONFLICT (account_id, day, currency) DO UPDATE SET
        entries = known.entries + excluded.entries,
        amount_atomic = known.amount_atomic + excluded.amount_atomic,
        platform_fees = known.platform_fees + excluded.platform_fees,
        platform_fee_atomic = known.platform_fee_atomic + excluded.platform_fee_atomic,
        first_id = least(known.first_id, excluded.first_id),
        last_id = greatest(known.last_id, excluded.last_id)
)
UPDATE payments_dailysumplace p SET newest_id = newest.id
FROM (SELECT max(id) AS id FROM taken) newest WHERE p.account_id = %(account)s AND newest.id > 0
"""


def sum_account(account_id: int) -> None:
    """Add an account's entries after its place to the sums of their days, ENTRIES_AT_ONCE of them.
    Anyone who comes meanwhile waits. Within a transaction."""
    DailySumPlace.objects.bulk_create([DailySumPlace(account_id=account_id)], ignore_conflicts=True)
    DailySumPlace.objects.select_for_update().get(pk=account_id)
    with connection.cursor() as cursor:
        cursor.execute(_PLACE_OF, [account_id])
        entry_id, until = cursor.fetchone()
        if entry_id is None:
            DailySum.objects.filter(account_id=account_id).delete()
        values: Arguments = {
            "account": account_id,
            "id": entry_id or 0,
            "until": until,
            "limit": ENTRIES_AT_ONCE,
        }
        cursor.execute(_SUM, values)
