"""Invariants of what a payment says of its refunds and its coins, and of where refunds go: as the
refunds, the deposits, the history and the audit log say."""

from apps.core.invariant import Invariant
from apps.ledger import keys

MARKS = (
    Invariant(
        "payments_marked",
        "A payment says that it is refunded, settled or waits for a person as its refunds and its"
        " status do",
        "SELECT count(*) FROM payments_payment",
        f"""
WITH refunded AS (
    SELECT payment_id, max(m.id) AS last FROM payments_refund r
    LEFT JOIN ledger_movement m ON m.key = {keys.REFUND_CONFIRMED.sql("r.id")}
    WHERE r.status = 'confirmed' GROUP BY 1
), parts AS (
    SELECT a.payment_id, coalesce((SELECT sum(r.amount_atomic) FROM payments_refund r
            WHERE r.payment_id = a.payment_id AND r.asset_id = a.asset_id
            AND r.status = 'confirmed'), 0) AS back,
        coalesce(sum(d.amount_atomic) FILTER (
            WHERE d.status = 'confirmed' AND m.id < f.last), 0) AS least,
        coalesce(sum(d.amount_atomic) FILTER (
            WHERE d.status = 'confirmed' OR d.is_lost), 0) AS most
    FROM refunded f JOIN payments_paymentaddress a ON a.payment_id = f.payment_id
    LEFT JOIN chain_deposit d ON d.address_id = a.address_id AND d.asset_id = a.asset_id
    LEFT JOIN ledger_movement m ON m.key = {keys.DEPOSIT.sql("d.id")}
    GROUP BY 1, a.asset_id
), shares AS (
    SELECT payment_id, bool_and(back >= least) AS may_be_full, bool_or(back < most) AS may_be_part
    FROM parts GROUP BY 1
)
SELECT 'payment ' || p.id, 'its refunds are called ' || p.refund_state ||
    ', which isn''t what they are'
FROM payments_payment p LEFT JOIN refunded f ON f.payment_id = p.id
LEFT JOIN shares s ON s.payment_id = p.id
WHERE (p.refund_state = 'none') <> (f.payment_id IS NULL)
    OR p.refund_state = 'partial' AND NOT s.may_be_part
    OR p.refund_state = 'full' AND NOT s.may_be_full AND NOT EXISTS (
        SELECT FROM payments_paymentevent h
        WHERE h.payment_id = p.id AND h.event_type = 'transaction.failed')
UNION ALL SELECT 'payment ' || p.id, 'it is ' || p.status || ', and its settlement ' ||
    coalesce(p.settlement_status, 'nothing')
FROM payments_payment p WHERE p.settlement_status IS DISTINCT FROM CASE
    WHEN p.status = 'completed' AND p.auto_swap_status = 'pending' THEN 'processing'
    WHEN p.status = 'completed' THEN 'completed'
    WHEN p.status = 'failed' THEN 'failed'
    WHEN p.status = 'refunded' AND p.completed_at IS NULL AND p.settlement_status = 'pending'
        THEN 'pending'
    WHEN p.status = 'refunded' AND p.completed_at IS NULL THEN 'failed'
    WHEN p.status = 'refunded' AND p.settlement_status = 'processing' THEN 'processing'
    WHEN p.status = 'refunded' THEN 'completed'
    ELSE p.settlement_status END
    OR p.status IN ('pending', 'processing', 'expired')
        AND p.settlement_status IN ('completed', 'failed', 'processing')
UNION ALL SELECT 'payment ' || p.id, CASE WHEN p.needs_attention = ''
    THEN 'a refund of it waits for an address, and it says nothing of it'
    WHEN p.needs_attention = 'card_refund' THEN 'it waits for a card''s refund, and no card paid it'
    ELSE 'it says that a refund waits for an address, and none does' END
FROM payments_payment p LEFT JOIN LATERAL (SELECT h.id FROM payments_heldrefund h
    WHERE h.payment_id = p.id AND h.status = 'waiting' LIMIT 1) w ON true
WHERE (w.id IS NOT NULL AND p.needs_attention = '')
    OR (w.id IS NULL AND p.needs_attention = 'held_refund')
    OR (p.needs_attention = 'card_refund' AND NOT p.is_card_funded)
UNION ALL SELECT 'payment ' || p.id,
    'coins of it went back to nobody and wait for nobody, and it says nothing of it'
FROM payments_payment p JOIN payments_paymentaddress a ON a.payment_id = p.id
JOIN chain_deposit d ON d.address_id = a.address_id AND d.asset_id = a.asset_id
    AND d.status = 'confirmed' AND d.handled_status = 'confirmed'
WHERE p.status = 'failed' AND p.needs_attention = ''
    AND p.state_reason IN ('failed_underpaid', 'failed_overpaid')
    AND NOT EXISTS (SELECT FROM payments_latedeposit l WHERE l.deposit_id = d.id)
    AND NOT EXISTS (SELECT FROM payments_heldrefund h WHERE h.payment_id = p.id
        AND h.asset_id = d.asset_id)
    AND NOT EXISTS (SELECT FROM payments_refund r WHERE r.payment_id = p.id
        AND r.reason = 'merchant_requested')
GROUP BY p.id, d.asset_id HAVING sum(d.amount_atomic) > coalesce((
    SELECT sum(r.amount_atomic) FROM payments_refund r WHERE r.payment_id = p.id
        AND r.asset_id = d.asset_id AND r.status <> 'failed'), 0)
""",  # noqa: S608  # our own text
        is_incremental=True,
    ),
    Invariant(
        "refunds_go_back",
        "Every refund goes where the merchant asked for, or by itself to who paid; a deposit that"
        " an event calls late is kept as one",
        "SELECT count(*) FROM payments_refund",
        """
WITH asked AS (
    SELECT DISTINCT r.id FROM stores_auditentry l
    CROSS JOIN LATERAL jsonb_array_elements_text(l.details -> 'refunds') n
    JOIN payments_refund r ON r.id::text = n
    WHERE l.action = 'refund.requested' AND l.target_id = r.payment_id::text
        AND EXISTS (SELECT FROM jsonb_array_elements_text(l.details -> 'sent') t
            WHERE lower(t) = lower(r.amount_atomic || ' ' || r.asset_id || ' to ' ||
                r.destination_address))
)
SELECT 'refund ' || r.id, CASE WHEN r.reason = 'merchant_requested'
    THEN 'the audit log has nobody who asked for it, so much and there'
    ELSE 'it went by itself to ' || r.destination_address || ', which paid nothing' END
FROM payments_refund r LEFT JOIN asked a ON a.id = r.id
WHERE r.created_at > (SELECT min(at) - interval '1 minute' FROM stores_auditentry
        WHERE action = 'refund.requested' AND details ? 'sent')
    AND CASE r.reason WHEN 'merchant_requested' THEN a.id IS NULL
    ELSE a.id IS NOT NULL OR r.held_id IS NULL AND NOT EXISTS (
        SELECT FROM payments_paymentaddress w JOIN chain_deposit d ON d.address_id = w.address_id
        WHERE w.payment_id = r.payment_id AND lower(d.from_address) = lower(r.destination_address))
    END
UNION ALL SELECT DISTINCT 'deposit ' || d.id, 'it came late, and is kept as one that didn''t'
FROM webhooks_event e JOIN payments_paymentaddress w
    ON w.payment_id::text = e.object ->> 'payment_intent_id'
JOIN chain_deposit d ON d.address_id = w.address_id
    AND d.tx_hash = e.object #>> '{transaction,tx_hash}'
    AND d.asset_id = e.object #>> '{transaction,asset_id}'
WHERE e.type = 'transaction.confirmed' AND e.account_id IS NULL
    AND e.object #>> '{transaction,late}' = 'true'
    AND NOT EXISTS (SELECT FROM payments_latedeposit l WHERE l.deposit_id = d.id)
    -- Another coin than its address is for is set aside, until it is accepted.
    AND NOT (e.object #>> '{transaction,unexpected_asset}' = 'true'
        AND e.object #>> '{transaction,accepted_at}' IS NULL
        AND EXISTS (SELECT FROM chain_unmatchedtransfer t
            WHERE (t.chain_id, t.tx_hash, t.log_index) = (d.chain_id, d.tx_hash, d.log_index)))
""",
    ),
)
