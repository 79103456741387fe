"""Invariants of sums that are kept: each is what its rows come to."""

from apps.core.invariant import Invariant
from apps.payments.daily_sums import PLACE
from apps.payments.sold_sums import RECENT, RECENT_DAYS, TURN

SUMS = (
    Invariant(
        "daily_sums_true",
        "Every daily sum equals the entries of its day, up to the place that its account was"
        " read to",
        "SELECT count(*) FROM payments_dailysum",
        f"""
WITH places AS (
    SELECT a.id AS account_id, place.id FROM payments_dailysumplace kept
        JOIN ledger_account a ON a.id = kept.account_id {PLACE} WHERE place.id IS NOT NULL
), entries AS (
    SELECT e.account_id, (m.at AT TIME ZONE 'UTC')::date AS day,
        coalesce(p.settlement_currency, '') AS currency, count(*) AS entries,
        sum(e.amount_atomic) AS amount,
        count(*) FILTER (WHERE e.role = 'platform_fee') AS fees,
        coalesce(sum(e.amount_atomic) FILTER (WHERE e.role = 'platform_fee'), 0) AS fee,
        min(e.id) AS first, max(e.id) AS last
    FROM places JOIN ledger_entry e ON e.account_id = places.account_id
        AND e.id <= places.id
    JOIN ledger_movement m ON m.id = e.movement_id
    LEFT JOIN payments_payment p ON p.id = m.reference
    GROUP BY 1, 2, 3
), kept AS (
    SELECT s.* FROM payments_dailysum s JOIN places ON places.account_id = s.account_id
)
SELECT 'account ' || coalesce(k.account_id, e.account_id),
    'its sum of ' || coalesce(k.day, e.day) || ' isn''t what its entries say'
FROM kept k FULL JOIN entries e ON e.account_id = k.account_id AND e.day = k.day
    AND e.currency = k.currency
WHERE (k.entries, k.amount_atomic, k.platform_fees, k.platform_fee_atomic)
        IS DISTINCT FROM (e.entries, e.amount, e.fees, e.fee)
    OR e.first < coalesce(k.first_id, e.last + 1) OR e.last > coalesce(k.last_id, 0)
""",  # noqa: S608  # our own text
    ),
    Invariant(
        "hourly_sums_true",
        "What is kept of each hour of a store, with what isn't in it yet, equals its payments and"
        " their nets",
        "SELECT count(*) FROM payments_hourlysum",
        """
WITH made AS (
    SELECT p.store_id, p.mode, date_trunc('hour', p.created_at, 'UTC') AS hour,
        p.settlement_currency AS currency, p.status, count(*) AS payments,
        count(p.completed_at) AS completed,
        coalesce(sum(p.settlement_amount_cents) FILTER (WHERE p.completed_at IS NOT NULL), 0)
            AS completed_cents,
        count(n.net_cents) AS nets, coalesce(sum(n.net_cents), 0) AS net_cents
    FROM payments_payment p LEFT JOIN payments_paymentnet n ON n.payment_id = p.id
    GROUP BY 1, 2, 3, 4, 5
), kept AS (
    SELECT store_id, mode, hour, currency, status, sum(payments) AS payments,
        sum(completed) AS completed, sum(completed_cents) AS completed_cents, sum(nets) AS nets,
        sum(net_cents) AS net_cents
    FROM (
        SELECT store_id, mode, hour, currency, status, payments, completed, completed_cents, nets,
            net_cents FROM payments_hourlysum
        UNION ALL SELECT store_id, mode, hour, currency, status, payments, completed,
            completed_cents, nets, net_cents FROM payments_paymentchange
    ) one GROUP BY 1, 2, 3, 4, 5
)
SELECT 'store ' || coalesce(k.store_id, m.store_id), 'its ' || coalesce(k.mode, m.mode) || ' '
    || coalesce(k.status, m.status) || ' payments of ' || coalesce(k.hour, m.hour) || ' in '
    || coalesce(k.currency, m.currency) || ' aren''t what is kept of them'
FROM kept k FULL JOIN made m ON m.store_id = k.store_id AND m.mode = k.mode AND m.hour = k.hour
    AND m.currency = k.currency AND m.status = k.status
WHERE (coalesce(k.payments, 0), coalesce(k.completed, 0), coalesce(k.completed_cents, 0),
        coalesce(k.nets, 0), coalesce(k.net_cents, 0))
    <> (coalesce(m.payments, 0), coalesce(m.completed, 0), coalesce(m.completed_cents, 0),
        coalesce(m.nets, 0), coalesce(m.net_cents, 0))
""",
    ),
    Invariant(
        "sold_sums_true",
        "What is kept of each day of a platform's merchant, with what isn't in it yet, equals the"
        " payments that completed",
        "SELECT count(*) FROM payments_soldsum",
        """
WITH sold AS (
    SELECT platform_id, mode, (completed_at AT TIME ZONE 'UTC')::date AS day, store_id,
        settlement_currency AS currency, count(*) AS payments, sum(settlement_amount_cents) AS cents
    FROM payments_payment WHERE platform_id IS NOT NULL AND completed_at IS NOT NULL
    GROUP BY 1, 2, 3, 4, 5
), kept AS (
    SELECT platform_id, mode, day, store_id, currency, sum(payments) AS payments,
        sum(cents) AS cents
    FROM (
        SELECT platform_id, mode, day, store_id, currency, payments, cents FROM payments_soldsum
        UNION ALL SELECT platform_id, mode, sold_on, store_id, currency, completed, completed_cents
            FROM payments_paymentchange WHERE platform_id IS NOT NULL AND sold_on IS NOT NULL
    ) one GROUP BY 1, 2, 3, 4, 5
)
SELECT 'store ' || coalesce(k.store_id, s.store_id), 'what it sold on ' || coalesce(k.day, s.day)
    || ' isn''t what is kept for its platform'
FROM kept k FULL JOIN sold s ON s.platform_id = k.platform_id AND s.mode = k.mode
    AND s.day = k.day AND s.store_id = k.store_id AND s.currency = k.currency
WHERE (coalesce(k.payments, 0), coalesce(k.cents, 0))
    <> (coalesce(s.payments, 0), coalesce(s.cents, 0))
""",
    ),
    Invariant(
        "sold_spans_true",
        "What is kept of each month of a platform's merchant, of the newest thirty days and of all"
        " merchants' days equals the sums of each merchant's days",
        "SELECT (SELECT count(*) FROM payments_soldspan)"
        " + (SELECT count(*) FROM payments_platformsum)",
        f"""
WITH newest AS (
    SELECT row_id::date AS day FROM core_rowturn WHERE job = '{TURN}'
), spans AS (
    SELECT s.platform_id, s.mode, n.span, s.store_id, s.currency, sum(s.payments) AS payments,
        sum(s.cents) AS cents
    FROM payments_soldsum s CROSS JOIN LATERAL (
        SELECT to_char(s.day::timestamp, 'YYYY-MM') AS span
        UNION ALL SELECT '{RECENT}' FROM newest
        WHERE s.day <= newest.day AND s.day > newest.day - {RECENT_DAYS}
    ) n GROUP BY 1, 2, 3, 4, 5
), days AS (
    SELECT platform_id, mode, day, currency, sum(payments) AS payments, sum(cents) AS cents
    FROM payments_soldsum GROUP BY 1, 2, 3, 4
)
SELECT 'store ' || coalesce(k.store_id, s.store_id), 'what it sold in ' || coalesce(k.span, s.span)
    || ' isn''t what its days come to'
FROM payments_soldspan k FULL JOIN spans s ON s.platform_id = k.platform_id AND s.mode = k.mode
    AND s.span = k.span AND s.store_id = k.store_id AND s.currency = k.currency
WHERE (coalesce(k.payments, 0), coalesce(k.cents, 0))
    <> (coalesce(s.payments, 0), coalesce(s.cents, 0))
UNION ALL
SELECT 'store ' || coalesce(k.platform_id, d.platform_id), 'what its merchants sold on '
    || coalesce(k.day, d.day) || ' isn''t what their days come to'
FROM payments_platformsum k FULL JOIN days d ON d.platform_id = k.platform_id AND d.mode = k.mode
    AND d.day = k.day AND d.currency = k.currency
WHERE (coalesce(k.payments, 0), coalesce(k.cents, 0))
    <> (coalesce(d.payments, 0), coalesce(d.cents, 0))
""",  # noqa: S608  # our own text
    ),
)
