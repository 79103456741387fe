"""Sales of platforms' merchants: sums by UTC day, and of those sums by month and by the newest
thirty days, which a trigger keeps; an index has the merchants of each with the largest first.

Figures are by when payments completed. What is in no sum yet is in `payments_paymentchange`, never
in both (apps.payments.hourly_sums).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from itertools import groupby

from django.db import connection, transaction

from apps.core.models import RowTurn
from apps.payments.models import SoldSpan

TURN = "payments.sum_hours:recent"  # the last of the newest days; the trigger reads it too
RECENT = "recent"
RECENT_DAYS = 30
# Of a month so many days that its list is read in place of theirs.
MONTH_DAYS_MIN = 15
ONE_DAY = timedelta(days=1)

# Days within which a range begins or ends are read payment by payment.
_OF_EDGES = """
    SELECT p.store_id, p.settlement_currency, s.day, 1, p.settlement_amount_cents
    FROM unnest(%(edges)s::date[]) s(day)
    CROSS JOIN LATERAL (
        SELECT store_id, settlement_currency, settlement_amount_cents FROM payments_payment
        WHERE platform_id = %(platform_id)s AND mode = %(mode)s
            AND completed_at >= greatest(s.day::timestamp AT TIME ZONE 'UTC', %(begin)s)
            AND completed_at < (s.day + 1)::timestamp AT TIME ZONE 'UTC'
            AND completed_at <= %(end)s
        OFFSET 0
    ) p"""
_CHANGES = """
    SELECT store_id, currency, sold_on, completed, completed_cents FROM payments_paymentchange
    WHERE platform_id = %(platform_id)s AND mode = %(mode)s AND sold_on IS NOT NULL
        AND sold_on >= %(first_whole)s AND sold_on <= %(last_whole)s"""
# Of a platform, between %(begin)s and %(end)s, both inclusive: of all merchants together.
SOLD_IN_ALL = f"""
sold AS (
    SELECT currency, payments, cents FROM payments_platformsum
    WHERE platform_id = %(platform_id)s AND mode = %(mode)s AND day >= %(first_whole)s
        AND day <= %(last_whole)s
    UNION ALL
    SELECT currency, completed, completed_cents FROM ({_CHANGES}) c
    UNION ALL
    SELECT e.currency, e.payments, e.cents
    FROM ({_OF_EDGES}) e (store_id, currency, day, payments, cents)
)"""  # noqa: S608  # our own text
# Of each merchant.
SOLD = f"""
sold AS (
    SELECT store_id, currency, day, payments, cents FROM payments_soldsum
    WHERE platform_id = %(platform_id)s AND mode = %(mode)s AND day >= %(first_whole)s
        AND day <= %(last_whole)s
    UNION ALL {_CHANGES}
    UNION ALL {_OF_EDGES}
)"""  # noqa: S608  # our own text
# Of those who lead a list of %(spans)s, %(days)s and %(currencies)s, or have a change that is in no
# sum yet; and what all others can have sold at most, in weights of a cent of each list.
SOLD_BY_LEADERS = f"""
list AS MATERIALIZED (
    SELECT b.number, b.weight, l.store_id, l.cents
    FROM unnest(%(spans)s::text[], %(span_days)s::date[], %(span_currencies)s::text[],
        %(span_weights)s::numeric[]) WITH ORDINALITY b(span, day, currency, weight, number)
    CROSS JOIN LATERAL (
        (SELECT store_id, cents FROM payments_soldspan
        WHERE platform_id = %(platform_id)s AND mode = %(mode)s AND span = b.span
            AND currency = b.currency
        ORDER BY cents DESC, store_id LIMIT (SELECT %(depth)s::int))
        UNION ALL
        (SELECT store_id, cents FROM payments_soldsum
        WHERE platform_id = %(platform_id)s AND mode = %(mode)s AND day = b.day
            AND currency = b.currency
        ORDER BY cents DESC, store_id LIMIT (SELECT %(depth)s::int))
    ) l
), others AS (
    SELECT coalesce(sum(weight * cents), 0) AS worth, count(*) AS lists FROM (
        SELECT weight, min(cents) AS cents FROM list GROUP BY number, weight
        HAVING count(*) = (SELECT %(depth)s::int)
    ) ended
), leader AS MATERIALIZED (
    SELECT store_id FROM list
    UNION
    SELECT store_id FROM payments_paymentchange
    WHERE platform_id = %(platform_id)s AND mode = %(mode)s AND sold_on IS NOT NULL
        AND sold_on >= %(first)s AND sold_on <= %(last)s
), sold AS (
    SELECT s.store_id, s.currency, s.day, s.payments, s.cents
    FROM leader CROSS JOIN LATERAL (
        SELECT store_id, currency, day, payments, cents FROM payments_soldsum
        WHERE platform_id = %(platform_id)s AND mode = %(mode)s AND store_id = leader.store_id
            AND day >= %(first_whole)s AND day <= %(last_whole)s
        OFFSET 0
    ) s
    UNION ALL {_CHANGES}
    UNION ALL
    SELECT e.* FROM ({_OF_EDGES}) e (store_id, currency, day, payments, cents)
    JOIN leader ON leader.store_id = e.store_id
)"""  # noqa: S608  # our own text


@dataclass(frozen=True)
class SoldList:
    """The merchants of a span, or of one day, by what they sold; `days` of it are asked about."""

    span: str | None
    day: date | None
    days: tuple[date, ...]


def newest_day() -> date | None:
    """The last of the newest thirty days."""
    text = RowTurn.objects.filter(job=TURN).values_list("row_id", flat=True).first()
    return date.fromisoformat(text) if text else None


def lists_of(first: date, last: date, newest: date | None) -> list[SoldList]:
    """As few as have all days between, both inclusive. What a list has of other days makes nobody's
    sum less."""
    days = [first + ONE_DAY * number for number in range((last - first).days + 1)]
    lists = []
    if newest:
        recent = tuple(day for day in days if timedelta(0) <= newest - day < RECENT_DAYS * ONE_DAY)
        if len(recent) >= MONTH_DAYS_MIN:
            lists.append(SoldList(RECENT, None, recent))
            days = [day for day in days if day not in recent]
    for month, in_month in groupby(days, lambda day: f"{day:%Y-%m}"):
        of_month = tuple(in_month)
        if len(of_month) >= MONTH_DAYS_MIN:
            lists.append(SoldList(month, None, of_month))
        else:
            lists += [SoldList(None, day, (day,)) for day in of_month]
    return lists


_MOVE = """
WITH RECURSIVE platform AS (
    (SELECT platform_id, mode FROM payments_platformsum ORDER BY 1, 2 LIMIT 1)
    UNION ALL
    SELECT n.platform_id, n.mode FROM platform p CROSS JOIN LATERAL (
        SELECT platform_id, mode FROM payments_platformsum
        WHERE (platform_id, mode) > (p.platform_id, p.mode) ORDER BY 1, 2 LIMIT 1
    ) n
), moved AS (
    INSERT INTO payments_soldspan AS known (platform_id, mode, span, store_id, currency, payments,
        cents)
    SELECT p.platform_id, p.mode, 'recent', s.store_id, s.currency, sum(d.sign * s.payments),
        sum(d.sign * s.cents)
    FROM platform p
    CROSS JOIN unnest(%(days)s::date[], %(signs)s::int[]) d(day, sign)
    CROSS JOIN LATERAL (
        SELECT store_id, currency, payments, cents FROM payments_soldsum
        WHERE platform_id = p.platform_id AND mode = p.mode AND day = d.day OFFSET 0
    ) s
    GROUP BY 1, 2, 4, 5 ORDER BY 1, 2, 4, 5
    ON CONFLICT (platform_id, mode, span, store_id, currency) DO UPDATE SET
        payments = known.payments + excluded.payments, cents = known.cents + excluded.cents
    RETURNING id, payments
)
SELECT ARRAY(SELECT id FROM moved WHERE payments = 0)
"""


def move_newest_days(today: date) -> None:
    """Once a day: what was sold on days that are no longer among the newest leaves their sums, and
    what is known of those that now are comes in. Nobody writes a sum meanwhile."""
    newest = newest_day()
    if newest is not None and newest >= today:
        return
    with transaction.atomic():
        defaults = {"row_id": date.min.isoformat()}
        if RowTurn.objects.get_or_create(job=TURN, defaults=defaults)[1]:
            SoldSpan.objects.filter(span=RECENT).delete()
        turn = RowTurn.objects.select_for_update().get(job=TURN)
        newest = date.fromisoformat(turn.row_id)
        if newest >= today:
            return
        before = _newest_days(newest)
        after = _newest_days(today)
        signs = {**dict.fromkeys(before - after, -1), **dict.fromkeys(after - before, 1)}
        _move(sorted(signs), [signs[day] for day in sorted(signs)])
        turn.row_id = today.isoformat()
        turn.save()


def _newest_days(last: date) -> set[date]:
    first = max(last.toordinal() - RECENT_DAYS + 1, 1)
    return {date.fromordinal(number) for number in range(first, last.toordinal() + 1)}


def _move(days: Sequence[date], signs: Sequence[int]) -> None:
    with connection.cursor() as cursor:
        cursor.execute(_MOVE, {"days": list(days), "signs": list(signs)})
        ((empty,),) = cursor.fetchall()
    SoldSpan.objects.filter(pk__in=empty, payments=0, cents=0).delete()
