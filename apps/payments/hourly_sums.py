"""Sums of payments by hour of UTC, and of what platforms' merchants sold by day of UTC
(apps.payments.sold_sums). They change nothing that is read: what a payment adds, and takes when it
changes however late, is a row of its own from the same transaction on, and then in a sum, never in
both.

Figures of a store are by when its payments were made; a platform's by when they completed.
"""

from django.db import connection

from apps.core import clock
from apps.core.db.sql import Arguments
from apps.payments import sold_sums
from apps.payments.models import HourlySum, SoldSum

AT_ONCE = 10_000
RUNS_MAX = 100

_NET_OF = """LEFT JOIN LATERAL (
        SELECT net_cents FROM payments_paymentnet WHERE payment_id = p.id OFFSET 0
    ) n ON true"""
_NO_NET = "CROSS JOIN (SELECT NULL::bigint AS net_cents) n"


def parts(*, has_nets: bool) -> str:
    """Of a store, between %(begin)s and %(end)s, both inclusive: its sums, and what isn't in them
    yet. Hours within which the range ends, or one of %(begins)s lies, are read payment by payment,
    each `at` its own moment, and with its net where nets are asked for."""
    return _PARTS.replace("{net}", _NET_OF if has_nets else _NO_NET)


_PARTS = """
split AS MATERIALIZED (
    SELECT coalesce(array_agg(DISTINCT date_trunc('hour', b, 'UTC')), '{}') AS hours
    FROM unnest(%(begins)s::timestamptz[]
        || (%(end)s::timestamptz + interval '1 microsecond')) b
    WHERE b <> date_trunc('hour', b, 'UTC')
), part AS (
    SELECT hour AS at, currency, status, payments, completed, completed_cents, nets, net_cents
    FROM payments_hourlysum
    WHERE store_id = %(store_id)s AND mode = %(mode)s AND hour >= %(begin)s AND hour <= %(end)s
        AND hour <> ALL ((SELECT hours FROM split)::timestamptz[])
    UNION ALL
    SELECT hour, currency, status, payments, completed, completed_cents, nets, net_cents
    FROM payments_paymentchange
    WHERE store_id = %(store_id)s AND mode = %(mode)s AND hour >= %(begin)s AND hour <= %(end)s
        AND hour <> ALL ((SELECT hours FROM split)::timestamptz[])
    UNION ALL
    SELECT p.created_at, p.settlement_currency, p.status, 1, (p.completed_at IS NOT NULL)::int,
        CASE WHEN p.completed_at IS NULL THEN 0 ELSE p.settlement_amount_cents END,
        (n.net_cents IS NOT NULL)::int, coalesce(n.net_cents, 0)
    FROM (SELECT unnest(hours) AS hour FROM split) s
    CROSS JOIN LATERAL (
        SELECT id, created_at, settlement_currency, status, completed_at, settlement_amount_cents
        FROM payments_payment WHERE store_id = %(store_id)s AND mode = %(mode)s
            AND created_at >= greatest(s.hour, %(begin)s)
            AND created_at < s.hour + interval '1 hour' AND created_at <= %(end)s
        OFFSET 0
    ) p
    {net}
)"""

_SUM = """
WITH taken AS (
    DELETE FROM payments_paymentchange WHERE id = ANY (ARRAY(
        SELECT id FROM payments_paymentchange ORDER BY id LIMIT %(limit)s
    )) RETURNING *
), hourly AS (
    INSERT INTO payments_hourlysum AS known (store_id, mode, hour, currency, status, payments,
        completed, completed_cents, nets, net_cents)
    SELECT store_id, mode, hour, currency, status, sum(payments), sum(completed),
        sum(completed_cents), sum(nets), sum(net_cents)
    FROM taken GROUP BY 1, 2, 3, 4, 5
    HAVING (sum(payments), sum(completed), sum(completed_cents), sum(nets), sum(net_cents))
        IS DISTINCT FROM (0::bigint, 0::bigint, 0::numeric, 0::bigint, 0::numeric)
    ON CONFLICT (store_id, mode, hour, currency, status) DO UPDATE SET
        payments = known.payments + excluded.payments,
        completed = known.completed + excluded.completed,
        completed_cents = known.completed_cents + excluded.completed_cents,
        nets = known.nets + excluded.nets,
        net_cents = known.net_cents + excluded.net_cents
    RETURNING id, payments, nets
), sold AS (
    INSERT INTO payments_soldsum AS known (platform_id, mode, day, store_id, currency, payments,
        cents)
    SELECT platform_id, mode, sold_on, store_id, currency, sum(completed), sum(completed_cents)
    FROM taken WHERE platform_id IS NOT NULL AND sold_on IS NOT NULL GROUP BY 1, 2, 3, 4, 5
    HAVING (sum(completed), sum(completed_cents)) IS DISTINCT FROM (0::bigint, 0::numeric)
    ON CONFLICT (platform_id, mode, day, store_id, currency) DO UPDATE SET
        payments = known.payments + excluded.payments, cents = known.cents + excluded.cents
    RETURNING id, payments
)
SELECT (SELECT count(*) FROM taken),
    ARRAY(SELECT id FROM hourly WHERE payments = 0 AND nets = 0),
    ARRAY(SELECT id FROM sold WHERE payments = 0)
"""


def sum_hours(at_once: int = AT_ONCE) -> int:
    """Add what has changed to the sums; how many changes there were. One statement takes and adds
    them, so that readers find each in one place."""
    sold_sums.move_newest_days(clock.real_now().date())
    summed = 0
    for _ in range(RUNS_MAX):
        count = _sum(at_once)
        summed += count
        if count < at_once:
            break
    return summed


def _sum(limit: int) -> int:
    arguments: Arguments = {"limit": limit}
    with connection.cursor() as cursor:
        cursor.execute(_SUM, arguments)
        count, empty_hours, unsold = cursor.fetchone()
    # A status that every payment of the hour has left. What comes back meanwhile isn't deleted.
    if empty_hours:
        HourlySum.objects.filter(pk__in=empty_hours, payments=0, nets=0, completed=0).delete()
    if unsold:
        SoldSum.objects.filter(pk__in=unsold, payments=0, cents=0).delete()
    return int(count)
