"""Settles payments that waited for the review of an asset, once it has ended."""

from datetime import timedelta

from apps.chain.sending import costs
from apps.core import clock
from apps.core.db.sql import Statement
from apps.core.rows import PAUSED_SQL, Job
from apps.payments.services.settle import settle_payment

JOB = Job("payments.settle_reviewed", limit=200)
SINCE = timedelta(days=30)
# All that came has confirmed and is enough, and nothing of it is stopped: no matter who settled it
# last found a stop that has ended since. Only stores are looked at that had such an end lately, and
# of their payments each one's deposits by its key: joined, the deposits of all might be read.
_WAITING = Statement(f"""
WITH ended AS MATERIALIZED (
    SELECT DISTINCT e.store_id, e.mode FROM assets_acceptedasset e
    WHERE e.review_ended_at > %(since)s),
waiting AS MATERIALIZED (
    SELECT p.id, p.store_id, p.mode, p.created_at FROM ended r CROSS JOIN LATERAL (
        SELECT i.id, i.store_id, i.mode, i.created_at FROM payments_payment i
        WHERE i.store_id = r.store_id AND i.mode = r.mode AND i.status = 'processing'
            AND i.state_reason = 'pending_confirmations' OFFSET 0) p
    WHERE p.id::text NOT IN ({PAUSED_SQL}))
SELECT w.id FROM waiting w
WHERE (SELECT bool_or(d.status = 'confirmed' AND d.handled_status = 'confirmed')
        AND NOT bool_or(
            d.status = 'confirming' OR k.suspended_at IS NOT NULL AND d.status <> 'failed')
    FROM payments_paymentaddress a
    JOIN chain_deposit d ON d.address_id = a.address_id AND d.asset_id = a.asset_id
    LEFT JOIN assets_acceptedasset k ON k.store_id = w.store_id AND k.mode = w.mode
        AND k.asset_id = d.asset_id
    WHERE a.payment_id = w.id)
ORDER BY w.created_at LIMIT %(limit)s
""")  # noqa: S608  # our own text


def settle_reviewed() -> int:
    """The sweep over payments that nothing holds any more; how many there were."""
    costs.remember("live")
    return JOB.each(_waiting, settle_payment)


def _waiting() -> list[object]:
    now = clock.real_now()
    rows = _WAITING.rows(job=JOB.name, now=now, since=now - SINCE, limit=JOB.limit)
    return [payment_id for (payment_id,) in rows]
