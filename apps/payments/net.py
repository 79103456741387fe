"""Net of completed payments over two compared ranges: one statement for both, of sums by hour
(`kept_net_cents`) or of each payment (`net_cents`).

Each share is valued as a payment's own page does, at the rate that its address locked, half-even to
the cent.
"""

from datetime import timedelta

from apps.core.db.sql import Statement
from apps.core.models import Viewer
from apps.core.text.days import Days
from apps.ledger.selectors import SPLITS
from apps.payments.hourly_sums import parts
from apps.payments.models import Payment, PaymentNet

MOMENT = timedelta(microseconds=1)


def _rounded(column: str) -> str:
    """Half-even, which PostgreSQL's own rounding isn't."""
    return (
        f"CASE WHEN mod(x.{column}, 1) = 0.5 THEN 2 * round(x.{column} / 2) ELSE"
        f" round(x.{column}) END"
    )


# What a unit is worth is worked out once for each coin, and each share once: arithmetic is most of
# what this costs.
_UNIT = (
    "unit AS MATERIALIZED (SELECT id, power(10::numeric, 2 - atomic_decimals) AS cents FROM"
    " assets_asset)"
)


def _net_of(done: str) -> str:
    """The cents of each row of `done`, coin by coin, by what the ledger divided."""
    return f"""
SELECT x.is_now,
    {_rounded("gross")} - {_rounded("service_fee")} - {_rounded("platform_fee")}
        - {_rounded("refunded")} AS cents
FROM (
    SELECT d.is_now, s.gross_atomic * r.rate AS gross, s.service_fee_atomic * r.rate AS service_fee,
           s.platform_fee_atomic * r.rate AS platform_fee, s.refunded_atomic * r.rate AS refunded
    FROM {done} d CROSS JOIN LATERAL ({SPLITS} WHERE m.reference = d.id
        GROUP BY m.reference, e.asset_id) s
    JOIN payments_paymentaddress k ON k.payment_id = s.reference AND k.asset_id = s.asset_id
    JOIN unit u ON u.id = s.asset_id
    CROSS JOIN LATERAL (SELECT k.exchange_rate * u.cents AS rate OFFSET 0) r
    OFFSET 0
) x"""  # noqa: S608  # only names of columns are put in


def _completed(is_now: str, begin: str, end: str) -> str:
    return f"""
        SELECT id, {is_now} AS is_now, false AS is_due, NULL::bigint AS net_cents
        FROM payments_payment
        WHERE store_id = %(store_id)s AND mode = %(mode)s AND settlement_currency = %(currency)s
            AND completed_at IS NOT NULL AND created_at BETWEEN %({begin})s AND %({end})s"""  # noqa: S608  # only names of values are put in


# What is known of a payment is put beside it by grouping. Beneath the policies PostgreSQL expects
# so few rows that it would join each payment with all of the range.
_NET = Statement(f"""
WITH done AS MATERIALIZED (
    SELECT id, bool_or(is_now) AS is_now,
        CASE WHEN NOT bool_or(is_due) THEN max(net_cents) END AS known
    FROM ({_completed("true", "begin", "end")}
        UNION ALL {_completed("false", "begin_before", "end_before")}
        UNION ALL SELECT payment_id, NULL, false, net_cents FROM payments_paymentnet
        WHERE store_id = %(store_id)s AND mode = %(mode)s
            AND created_at BETWEEN %(begin_before)s AND %(end)s
        UNION ALL SELECT payment_id, NULL, true, NULL FROM payments_reconciliationtask
        WHERE is_due
    ) one GROUP BY id HAVING bool_or(is_now) IS NOT NULL
), {_UNIT}
SELECT is_now, sum(cents) FROM (
    SELECT is_now, known AS cents FROM done WHERE known IS NOT NULL
    UNION ALL {_net_of("(SELECT id, is_now FROM done WHERE known IS NULL)")}
) one GROUP BY is_now
""")  # noqa: S608  # only names of columns are put in
_NET_OF = Statement(f"""
WITH {_UNIT} SELECT coalesce(sum(cents), 0)
    FROM ({_net_of("(SELECT %(payment_id)s::uuid AS id, true AS is_now)")}) one
""")  # noqa: S608  # only names of columns are put in


# The nets that are kept, from their sums; of those payments that wait for their check, few, the
# ledger's in their place. `unknown` is how many have neither.
_KEPT = Statement(f"""
WITH {parts(has_nets=True)}, due AS MATERIALIZED (
    SELECT p.id, p.created_at >= %(begin_now)s AS is_now, n.net_cents
    FROM (SELECT payment_id FROM payments_reconciliationtask WHERE is_due OFFSET 0) t
    CROSS JOIN LATERAL (
        SELECT id, created_at FROM payments_payment
        WHERE id = t.payment_id AND store_id = %(store_id)s AND mode = %(mode)s
            AND settlement_currency = %(currency)s AND completed_at IS NOT NULL
            AND created_at BETWEEN %(begin)s AND %(end)s
            AND (created_at >= %(begin_now)s OR created_at <= %(end_before)s)
        OFFSET 0
    ) p
    LEFT JOIN LATERAL (
        SELECT net_cents FROM payments_paymentnet WHERE payment_id = p.id OFFSET 0
    ) n ON true
), {_UNIT}
SELECT is_now, sum(unknown)::bigint, sum(cents)::bigint FROM (
    SELECT at >= %(begin_now)s AS is_now, completed - nets AS unknown, net_cents AS cents FROM part
    WHERE currency = %(currency)s AND (at >= %(begin_now)s OR at <= %(end_before)s)
    UNION ALL SELECT is_now, -(net_cents IS NULL)::int, -coalesce(net_cents, 0) FROM due
    UNION ALL SELECT is_now, 0, cents FROM ({_net_of("due")}) asked
) one GROUP BY is_now
""")  # noqa: S608  # only names of columns are put in


def kept_net_cents(
    viewer: Viewer, currency: str, now: Days, before: Days
) -> tuple[int, int] | None:
    """Of the payments created in a range, and in the one before, which has ended when it begins; in
    cents of the currency. None while some have completed and were never reconciled."""
    rows = _KEPT.rows(
        store_id=viewer.store_id,
        mode=viewer.mode,
        currency=currency,
        begin=before.begin,
        begins=[before.begin, before.end + MOMENT, now.begin],
        end_before=before.end,
        begin_now=now.begin,
        end=now.end,
    )
    if any(unknown for _, unknown, _ in rows):
        return None
    nets = {is_now: cents for is_now, _, cents in rows}
    return nets.get(True, 0), nets.get(False, 0)


def net_cents(viewer: Viewer, currency: str, now: Days, before: Days) -> tuple[int, int]:
    """Net of two ranges, payment by payment.

    What a payment left is read where its reconciliation has kept it; of one that has changed since,
    the ledger is asked.
    """
    rows = _NET.rows(
        store_id=viewer.store_id,
        mode=viewer.mode,
        currency=currency,
        begin=now.begin,
        end=now.end,
        begin_before=before.begin,
        end_before=before.end,
    )
    nets = {bool(is_now): int(cents) for is_now, cents in rows}
    return nets.get(True, 0), nets.get(False, 0)


def keep_net(payment: Payment) -> None:
    """Its present state; the caller has locked the payment."""
    ((cents,),) = _NET_OF.rows(payment_id=payment.pk)
    values = {
        "store_id": payment.store_id,
        "mode": payment.mode,
        "created_at": payment.created_at,
        "net_cents": int(cents),
    }
    PaymentNet.objects.update_or_create(payment=payment, defaults=values)
