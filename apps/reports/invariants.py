"""Invariants of sums over bookings: each is what its entries come to."""

from apps.core.invariant import Invariant

# What entries were worth isn't compared: it is shown, and nothing is paid by it.
BOOKINGS = (
    Invariant(
        "hourly_bookings_true",
        "Every sum of an hour's or a day's bookings equals its entries, up to the place that its"
        " account was read to",
        "SELECT count(*) FROM reports_hourlybooking",
        """
WITH booked AS (
    SELECT e.account_id, date_trunc('hour', m.at, 'UTC') AS hour, m.kind,
        coalesce(p.settlement_currency, '') AS currency, count(*) AS entries,
        coalesce(sum(e.amount_atomic) FILTER (WHERE e.amount_atomic > 0), 0) AS went_in,
        coalesce(sum(e.amount_atomic) FILTER (WHERE e.amount_atomic < 0), 0) AS went_out,
        min(e.id) AS first, max(e.id) AS last
    FROM reports_hourlybookingplace place JOIN ledger_entry e ON e.account_id = place.account_id
        AND e.id <= place.newest_id
    JOIN ledger_movement m ON m.id = e.movement_id
    LEFT JOIN payments_payment p ON p.id = m.reference
    GROUP BY 1, 2, 3, 4
), spans AS (
    SELECT false AS is_day, * FROM booked
    UNION ALL
    SELECT true, account_id, date_trunc('day', hour, 'UTC'), kind, currency, sum(entries),
        sum(went_in), sum(went_out), min(first), max(last)
    FROM booked GROUP BY 2, 3, 4, 5
)
SELECT 'account ' || coalesce(k.account_id, b.account_id), 'its sum of '
    || coalesce(k.hour, b.hour) || ' isn''t what its entries say'
FROM reports_hourlybooking k FULL JOIN spans b ON b.account_id = k.account_id
    AND b.is_day = k.is_day AND b.hour = k.hour AND b.kind = k.kind AND b.currency = k.currency
WHERE (k.entries, k.in_atomic, k.out_atomic) IS DISTINCT FROM (b.entries, b.went_in, b.went_out)
    OR b.first < k.first_id OR b.last > k.last_id
""",
    ),
)
