"""Invariants of the service's own coins that leave: cold storage and the operator's withdrawals."""

from apps.chain.sending.attempts import references_sql
from apps.core.invariant import Invariant

TREASURY = (
    Invariant(
        "withdrawals_booked",
        "Every withdrawal of earnings was approved by a second person, is booked up to its "
        "status, and was sent as requested",
        "SELECT count(*) FROM payments_withdrawal",
        f"""
WITH booked AS (
    SELECT m.reference AS id, coalesce(sum(e.amount_atomic)
        FILTER (WHERE a.kind = 'service_fees'), 0) AS fees,
           coalesce(sum(e.amount_atomic)
               FILTER (WHERE a.kind = 'withdrawal_clearing'), 0) AS clearing,
           coalesce(sum(e.amount_atomic)
               FILTER (WHERE a.kind = 'custody_hot'), 0) AS sent, max(e.asset_id) AS asset_id,
           max(m.mode) AS mode
    FROM ledger_movement m JOIN ledger_entry e ON e.movement_id = m.id AND e.role = 'principal'
    JOIN ledger_account a ON a.id = e.account_id
    WHERE m.kind LIKE 'withdrawal\\_%%' GROUP BY 1
)
SELECT 'withdrawal ' || coalesce(w.id, b.id), CASE
    WHEN w.id IS NULL THEN 'it is booked, and there is no such withdrawal'
    ELSE 'it is ' || w.status || ', booked ' || coalesce(b.fees, 0) || ' of fees, ' ||
        coalesce(b.clearing, 0) || ' in clearing and '
         || coalesce(b.sent, 0) || ' sent' END
FROM payments_withdrawal w FULL JOIN booked b ON b.id = w.id
WHERE w.id IS NULL
   OR (coalesce(b.fees, 0), coalesce(b.clearing, 0), coalesce(b.sent, 0)) IS DISTINCT FROM (
       CASE WHEN w.status IN ('approved', 'confirmed') THEN -w.amount_atomic ELSE 0 END,
       CASE WHEN w.status = 'approved' THEN w.amount_atomic ELSE 0 END,
       CASE WHEN w.status = 'confirmed' THEN w.amount_atomic ELSE 0 END)
   OR b.asset_id <> w.asset_id OR b.mode <> w.mode
UNION ALL SELECT 'withdrawal ' || id, 'nobody else let it go' FROM payments_withdrawal
WHERE status NOT IN ('requested', 'rejected')
    AND (decided_by_id IS NULL OR decided_by_id = requested_by_id)
UNION ALL SELECT 'withdrawal ' || w.id, 'the audit log doesn''t say who let it go'
    FROM payments_withdrawal w
WHERE w.status NOT IN ('requested', 'rejected') AND NOT EXISTS (
    SELECT 1 FROM stores_auditentry l WHERE l.action = 'withdrawal.approved'
        AND l.target_id = w.id::text
    AND l.details ->> 'staff' = w.decided_by_id::text
        AND l.details ->> 'amount_atomic' = w.amount_atomic::text
    AND l.details ->> 'to_address' = w.to_address)
UNION ALL SELECT 'withdrawal ' || o.reference, CASE
    WHEN w.id IS NULL THEN 'a transaction serves it, and there is no such withdrawal'
    ELSE 'it was sent as ' || o.amount_atomic || ' ' || o.asset_id || ' to ' || o.to_address END
FROM chain_outgoingtransaction o
    LEFT JOIN payments_withdrawal w ON w.id::text = left(o.reference, 36)
WHERE o.purpose = 'withdrawal'
    AND (w.id IS NULL OR o.to_address <> w.to_address OR o.amount_atomic <> w.amount_atomic
      OR o.asset_id <> w.asset_id)
UNION ALL SELECT 'withdrawal ' || w.id, 'it is confirmed, and no confirmed transaction serves it'
    FROM payments_withdrawal w
WHERE w.status = 'confirmed' AND NOT EXISTS (
    SELECT 1 FROM chain_outgoingtransaction o
    WHERE o.purpose = 'withdrawal' AND o.reference = ANY ({references_sql("w.id")})
        AND o.handled_status = 'confirmed')
""",  # noqa: S608  # our own text
    ),
    Invariant(
        "joins_booked",
        "Coins are joined in a hot wallet of their network, and booked once for their fee",
        "SELECT count(*) FROM chain_outgoingtransaction WHERE purpose = 'join'",
        """
WITH booked AS (
    SELECT m.reference AS id, max(m.mode) AS mode, max(e.asset_id) AS asset_id,
        coalesce(sum(e.amount_atomic) FILTER (WHERE a.kind = 'custody_hot'), 0) AS amount
    FROM ledger_movement m JOIN ledger_entry e ON e.movement_id = m.id
    JOIN ledger_account a ON a.id = e.account_id
    WHERE m.kind = 'coins_joined' GROUP BY 1
), sent AS (
    SELECT id, mode, asset_id,
        CASE undone_count WHEN 0 THEN network_fee_atomic ELSE handled_fee_atomic END AS amount
    FROM chain_outgoingtransaction WHERE purpose = 'join' AND handled_status = 'confirmed'
)
SELECT 'joining ' || coalesce(s.id, b.id), 'it cost ' || coalesce(s.amount, 0) || ', booked ' ||
    coalesce(b.amount, 0)
FROM sent s FULL JOIN booked b ON b.id = s.id
WHERE (s.amount, s.asset_id, s.mode) IS DISTINCT FROM (b.amount, b.asset_id, b.mode)
UNION ALL SELECT 'joining ' || o.id, 'it went to ' || o.to_address FROM chain_outgoingtransaction o
WHERE o.purpose = 'join' AND o.status <> 'failed'
  AND NOT EXISTS (SELECT 1 FROM chain_hotwallet w WHERE w.chain_id = o.chain_id
      AND w.address = o.to_address)
""",
    ),
    Invariant(
        "cold_booked",
        "Every transfer to cold storage is booked there once, and nothing else is",
        "SELECT count(*) FROM chain_outgoingtransaction WHERE purpose = 'cold'",
        """
WITH booked AS (
    SELECT m.reference AS id, max(e.asset_id) AS asset_id, max(m.mode) AS mode,
           coalesce(-sum(e.amount_atomic) FILTER (WHERE a.kind = 'custody_cold'), 0) AS amount
    FROM ledger_movement m JOIN ledger_entry e ON e.movement_id = m.id AND e.role = 'principal'
    JOIN ledger_account a ON a.id = e.account_id
    WHERE m.kind = 'cold_transfer_sent' GROUP BY 1
), sent AS (
    SELECT id, asset_id, mode, amount_atomic FROM chain_outgoingtransaction WHERE purpose = 'cold'
        AND handled_status = 'confirmed'
)
SELECT 'transfer ' || coalesce(s.id, b.id), 'sent ' || coalesce(s.amount_atomic, 0) ||
    ', booked ' || coalesce(b.amount, 0)
FROM sent s FULL JOIN booked b ON b.id = s.id
WHERE coalesce(s.amount_atomic, 0) <> coalesce(b.amount, 0) OR s.asset_id <> b.asset_id
    OR s.mode <> b.mode
""",
    ),
)
