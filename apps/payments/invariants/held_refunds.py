"""Invariants of refunds that are held: each is what its sender is still owed, and goes only where
something proves that it may."""

from apps.core.invariant import Invariant

# `least` is what had confirmed when the payment was rejected; later ones may be left to the
# merchant.
_OWED = """
WITH owed AS (
    SELECT h.id, coalesce(sum(d.amount_atomic), 0) AS most, coalesce(sum(d.amount_atomic) FILTER (
        WHERE d.status = 'confirmed' AND l.id IS NULL AND EXISTS (
            SELECT FROM payments_paymentevent t JOIN payments_paymentevent f
                ON f.payment_id = t.payment_id AND f.event_type = 'payment_intent.failed'
                AND f.sequence > t.sequence
            WHERE t.payment_id = h.payment_id AND t.event_type = 'transaction.confirmed'
                AND t.payload ->> 'deposit_id' = d.id::text)), 0) AS least
    FROM payments_heldrefund h
    LEFT JOIN payments_paymentaddress s ON s.payment_id = h.payment_id AND s.asset_id = h.asset_id
    LEFT JOIN chain_deposit d ON d.address_id = s.address_id AND d.asset_id = h.asset_id
        AND lower(d.from_address) = h.payer_address AND (d.status = 'confirmed' OR d.is_lost)
        AND NOT EXISTS (SELECT FROM payments_latedeposit a
            WHERE a.deposit_id = d.id AND a.accepted_at IS NOT NULL)
    LEFT JOIN payments_latedeposit l ON l.deposit_id = d.id
    GROUP BY h.id
), gone AS (
    SELECT h.id, coalesce(sum(r.amount_atomic) FILTER (WHERE r.status <> 'failed'
            AND (r.held_id = h.id OR r.held_id IS NULL
                AND r.destination_address = h.payer_address)), 0) AS back,
        coalesce(sum(r.amount_atomic) FILTER (WHERE r.status <> 'failed' AND r.held_id IS NULL
            AND r.destination_address <> h.payer_address), 0) AS elsewhere,
        coalesce(bool_or(r.held_id IS NULL AND r.reason = 'merchant_requested'), false)
            AS is_by_hand
    FROM payments_heldrefund h LEFT JOIN payments_refund r ON r.payment_id = h.payment_id
        AND r.asset_id = h.asset_id AND r.is_from_held
    GROUP BY h.id
)
"""
_CONFIRMED_IN_LOG = """
    SELECT FROM stores_auditentry l WHERE l.action = 'refund.address_confirmed'
        AND l.target_id = h.payment_id::text AND l.details ->> 'to' = h.destination_address
        AND l.details ->> 'proof' = h.proof AND l.details -> 'refunds' ? r.id::text"""

HELD_REFUNDS = (
    Invariant(
        "held_refunds_true",
        "A refund that is held is what its sender is owed, has a transfer once it is sent, and goes"
        " nowhere without proof",
        "SELECT count(*) FROM payments_heldrefund",
        f"""
{_OWED}
SELECT 'held refund ' || h.id, 'it holds ' || h.amount_atomic || ' ' || h.asset_id ||
    ', its sender is owed ' || o.least - g.back || ' to ' || o.most - g.back
FROM payments_heldrefund h JOIN owed o ON o.id = h.id JOIN gone g ON g.id = h.id
WHERE h.status IN ('checking', 'waiting') AND (h.amount_atomic > o.most - g.back
    OR h.amount_atomic < o.least - g.back - g.elsewhere)
UNION ALL SELECT 'held refund ' || h.id, 'it is closed, and its sender is owed ' || o.least - g.back
FROM payments_heldrefund h JOIN owed o ON o.id = h.id JOIN gone g ON g.id = h.id
WHERE h.status = 'closed' AND o.least > g.back + g.elsewhere AND NOT g.is_by_hand
UNION ALL SELECT 'held refund ' || h.id, 'it is ' || h.status || ', and ' || CASE WHEN r.id IS NULL
    THEN 'has no refund' ELSE 'its refund sends ' || r.amount_atomic || ' ' || r.asset_id || ' to '
        || r.destination_address END
FROM payments_heldrefund h LEFT JOIN payments_refund r ON r.held_id = h.id AND r.status <> 'failed'
WHERE (h.status = 'sent') <> (r.id IS NOT NULL) OR r.id IS NOT NULL
    AND (r.payment_id, r.store_id, r.mode, r.asset_id, r.amount_atomic, r.destination_address,
        r.reason, r.is_from_held) IS DISTINCT FROM (h.payment_id, h.store_id, h.mode, h.asset_id,
        h.amount_atomic, h.destination_address, h.reason, true)
UNION ALL SELECT 'held refund ' || h.id, 'it isn''t sent, and says where'
FROM payments_heldrefund h
WHERE h.status <> 'sent' AND (h.destination_address IS NOT NULL OR h.proof <> '')
UNION ALL SELECT 'held refund ' || h.id, 'nothing proves that it may go to '
    || h.destination_address
FROM payments_heldrefund h JOIN payments_refund r ON r.held_id = h.id AND r.status <> 'failed'
WHERE h.status = 'sent' AND NOT CASE h.proof
    WHEN 'payer' THEN h.destination_address = h.payer_address
    WHEN 'email' THEN EXISTS ({_CONFIRMED_IN_LOG}) AND EXISTS (SELECT FROM payments_refundlink k
        WHERE k.payment_id = h.payment_id AND k.used_at IS NOT NULL)
    WHEN 'signature' THEN EXISTS ({_CONFIRMED_IN_LOG})
    ELSE false END
UNION ALL SELECT 'held refund ' || h.id, 'its payment is another store''s'
FROM payments_heldrefund h LEFT JOIN payments_payment p ON p.id = h.payment_id
WHERE (h.store_id, h.mode) IS DISTINCT FROM (p.store_id, p.mode)
""",  # noqa: S608  # our own text
        is_incremental=True,
    ),
    Invariant(
        "payers_as_relied_on",
        "Coins went back by themselves only to senders that have a key, and who is asked for an"
        " address has shown none",
        "SELECT count(*) FROM chain_payer",
        """
SELECT 'held refund ' || h.id, 'it waits for an address because its sender is ' || h.why ||
    ', which is known as ' || coalesce(p.kind, 'nothing')
FROM payments_heldrefund h JOIN assets_asset a ON a.id = h.asset_id
    LEFT JOIN chain_payer p ON p.chain_id = a.chain_id AND p.address = h.payer_address
WHERE h.why IN ('contract', 'unproven', 'ours', 'shared') AND p.kind IS DISTINCT FROM h.why
    AND NOT (h.why = 'unproven' AND p.kind IS NOT DISTINCT FROM 'account')
UNION ALL SELECT 'held refund ' || h.id, 'it went back to its sender, which is known as '
    || coalesce(p.kind, 'nothing')
FROM payments_heldrefund h JOIN assets_asset a ON a.id = h.asset_id
    LEFT JOIN chain_payer p ON p.chain_id = a.chain_id AND p.address = h.payer_address
WHERE h.proof = 'payer' AND p.kind IS DISTINCT FROM 'account'
UNION ALL SELECT 'refund ' || r.id, 'it went by itself to ' || p.address || ', which is known as '
    || p.kind
FROM payments_refund r JOIN assets_asset a ON a.id = r.asset_id
    JOIN chain_payer p ON p.chain_id = a.chain_id AND p.address = r.destination_address
WHERE r.reason LIKE 'failed%%' AND NOT r.is_simulated AND r.held_id IS NULL AND p.kind <> 'account'
    AND p.checked_at <= coalesce(r.submitted_real_at, p.checked_at)
UNION ALL SELECT 'payer ' || p.address, 'it is known as ' || p.kind || CASE WHEN p.kind = 'ours'
    THEN ', and is no address of the service' ELSE ', and is an address of the service' END
FROM chain_payer p WHERE CASE WHEN p.kind = 'ours'
    THEN NOT EXISTS (SELECT FROM chain_address a WHERE a.address = p.address)
        AND NOT EXISTS (SELECT FROM chain_hotwallet w WHERE lower(w.address) = p.address)
    ELSE EXISTS (SELECT FROM chain_address a WHERE a.address = p.address) END
""",
        is_incremental=True,
    ),
)
