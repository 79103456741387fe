"""Settles payments that waited for the review of an asset, once it has ended."""

from apps.chain.sending import costs
from apps.core import clock
from apps.core.db.sql import Statement
from apps.core.rows import PAUSED_SQL, Job
from apps.payments.services.settle import settle_payment

JOB = Job("payments.settle_reviewed", limit=200)
# All that came has confirmed and is enough, and nothing of it is stopped: whoever settled it last
# found a stop that has ended since.
_WAITING = Statement(f"""
SELECT p.id FROM payments_payment p
WHERE p.status = 'processing' AND p.state_reason = 'pending_confirmations'
    AND p.id::text NOT IN ({PAUSED_SQL})
    AND EXISTS (SELECT FROM payments_paymentaddress a
        JOIN chain_deposit d ON d.address_id = a.address_id AND d.asset_id = a.asset_id
        WHERE a.payment_id = p.id AND d.status = 'confirmed' AND d.handled_status = 'confirmed')
    AND NOT EXISTS (SELECT FROM payments_paymentaddress a
        JOIN chain_deposit d ON d.address_id = a.address_id AND d.asset_id = a.asset_id
        LEFT JOIN assets_acceptedasset k ON k.store_id = p.store_id AND k.mode = p.mode
            AND k.asset_id = d.asset_id
        WHERE a.payment_id = p.id AND (d.status = 'confirming'
            OR k.suspended_at IS NOT NULL AND d.status <> 'failed'))
ORDER BY p.created_at LIMIT %(limit)s
""")  # noqa: S608  # our own text


def settle_reviewed() -> int:
    """The sweep over payments that nothing holds any more; how many there were."""
    costs.remember("live")
    return JOB.each(_waiting, settle_payment)


def _waiting() -> list[object]:
    rows = _WAITING.rows(job=JOB.name, now=clock.real_now(), limit=JOB.limit)
    return [payment_id for (payment_id,) in rows]
