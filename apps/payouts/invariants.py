"""Invariants of payouts: booked as far as they have come, sent as they were asked, and never by two
transactions."""

from apps.chain.simulated import other_hash_sql
from apps.core.invariant import Invariant

PAYOUTS = (
    Invariant(
        "payouts_booked",
        "Every payout is booked up to its status, for its store and amount, and returned at "
        "most once",
        "SELECT count(*) FROM payouts_payout",
        """
WITH booked AS (
    SELECT m.reference AS id, a.kind AS account, a.store_id, e.asset_id, m.mode,
        sum(e.amount_atomic) AS amount
    FROM ledger_movement m JOIN ledger_entry e ON e.movement_id = m.id AND e.role = 'principal'
    JOIN ledger_account a ON a.id = e.account_id
        AND a.kind IN ('available', 'reserved', 'offramp_clearing')
    WHERE m.kind LIKE 'payout\\_%%' GROUP BY 1, 2, 3, 4, 5
), sums AS (
    SELECT p.id, p.funds, p.amount_atomic,
           coalesce(sum(b.amount) FILTER (WHERE b.account = 'available'), 0) AS available,
           coalesce(sum(b.amount) FILTER (WHERE b.account = 'reserved'), 0) AS reserved,
           coalesce(sum(b.amount) FILTER (WHERE b.account = 'offramp_clearing'), 0) AS clearing,
           bool_or(b.asset_id <> p.asset_id OR b.mode <> p.mode
               OR b.store_id <> p.store_id) AS is_misplaced
    FROM payouts_payout p LEFT JOIN booked b ON b.id = p.id
    GROUP BY p.id, p.funds, p.amount_atomic
)
SELECT 'payout ' || id, 'its funds are ' || funds || ', booked ' || available || ', ' || reserved ||
    ' reserved and '
       || clearing || ' in clearing' FROM sums
WHERE available <> (CASE funds WHEN 'returned' THEN 0 ELSE -amount_atomic END)
   OR reserved <> (CASE funds WHEN 'reserved' THEN amount_atomic ELSE 0 END)
   OR clearing <> (CASE funds WHEN 'clearing' THEN amount_atomic ELSE 0 END)
UNION ALL SELECT 'payout ' || id, 'it is booked for another store, mode or asset' FROM sums
    WHERE is_misplaced
UNION ALL SELECT 'payout ' || b.id, 'it is booked, and there is no such payout' FROM booked b
WHERE NOT EXISTS (SELECT 1 FROM payouts_payout p WHERE p.id = b.id)
""",
        is_incremental=True,
    ),
    Invariant(
        "payouts_sent_once",
        "At most one transaction of a payout can have moved coins, and a confirmed one is what was"
        " asked, under its hash and at its cost",
        "SELECT count(*) FROM payouts_payout WHERE NOT coalesce(is_simulated, true)",
        f"""
WITH sent AS (SELECT left(reference, 36) AS id, *
    FROM (SELECT reference, status, amount_atomic, asset_id, to_address, tx_hash,
              network_fee_atomic, undone_count
              FROM chain_outgoingtransaction WHERE purpose = 'payout') o)
SELECT 'payout ' || id, count(*) || ' transactions of it are not failed' FROM sent
    WHERE status <> 'failed' GROUP BY id HAVING count(*) > 1
UNION ALL SELECT 'payout ' || s.id, 'a transaction serves it, and there is no such payout'
    FROM sent s
WHERE NOT EXISTS (SELECT 1 FROM payouts_payout p WHERE p.id::text = s.id)
UNION ALL SELECT 'payout ' || p.id, 'it was given back, and a transaction of it is ' || s.status
FROM payouts_payout p JOIN sent s ON s.id = p.id::text
WHERE p.funds = 'returned' AND p.rail = 'crypto' AND s.status NOT IN ('failed', 'review')
UNION ALL SELECT 'payout ' || p.id,
       'it was sent as ' || coalesce(s.amount_atomic || ' ' || s.asset_id ||
           ' (' || s.status || ')', 'nothing')
FROM payouts_payout p LEFT JOIN sent s ON s.id = p.id::text AND s.status <> 'failed'
WHERE p.rail = 'crypto' AND p.status = 'confirmed' AND NOT coalesce(p.is_simulated, false)
  AND (s.id IS NULL OR s.status <> 'confirmed'
      OR s.amount_atomic <> p.amount_atomic - p.withheld_atomic
       OR s.asset_id <> p.asset_id OR lower(s.to_address) <> lower(p.destination_address)
       OR s.tx_hash IS DISTINCT FROM p.tx_hash)
UNION ALL SELECT 'payout ' || p.id,
       'its network fee is ' || coalesce(p.network_fee_atomic, 0) || ', its transaction cost ' ||
           s.network_fee_atomic
FROM payouts_payout p JOIN sent s ON s.id = p.id::text AND s.status = 'confirmed'
WHERE p.rail = 'crypto' AND p.status = 'confirmed' AND s.undone_count = 0
    AND coalesce(p.network_fee_atomic, 0) <> s.network_fee_atomic
UNION ALL
    SELECT 'payout ' || p.id, 'it is called simulated, and a transaction of it is ' || s.status
FROM payouts_payout p JOIN sent s ON s.id = p.id::text WHERE p.is_simulated
UNION ALL SELECT 'payout ' || p.id, 'it is simulated, and names another transaction than its own'
FROM payouts_payout p WHERE p.is_simulated AND p.rail = 'crypto' AND {other_hash_sql("p")}
""",  # noqa: S608  # our own text
    ),
    Invariant(
        "payouts_gas_charged",
        "What a payout's failed attempts cost its store is what was booked, and the rest of what"
        " they cost is due",
        "SELECT count(*) FROM payouts_payout",
        """
WITH charged AS (
    SELECT m.reference AS id, -sum(e.amount_atomic) AS amount
    FROM ledger_movement m JOIN ledger_entry e ON e.movement_id = m.id
    JOIN ledger_account a ON a.id = e.account_id AND a.kind = 'available'
    WHERE m.kind = 'payout_gas_charged' GROUP BY 1
), cost AS (
    SELECT left(reference, 36) AS id, sum(network_fee_atomic) AS amount
    FROM chain_outgoingtransaction WHERE purpose = 'payout' AND handled_status = 'failed'
    AND undone_count = 0 GROUP BY 1
)
SELECT 'payout ' || p.id, 'its failed attempts cost its store ' || p.failed_gas_atomic ||
    ', booked ' || coalesce(c.amount, 0)
FROM payouts_payout p LEFT JOIN charged c ON c.id = p.id
WHERE p.failed_gas_atomic <> coalesce(c.amount, 0)
UNION ALL SELECT 'payout ' || p.id, 'its failed attempts cost ' || coalesce(k.amount, 0) || ', and '
    || p.failed_gas_atomic + p.failed_gas_due_atomic || ' is charged or due'
FROM payouts_payout p LEFT JOIN cost k ON k.id = p.id::text
WHERE p.rail = 'crypto' AND p.failed_gas_atomic + p.failed_gas_due_atomic <> coalesce(k.amount, 0)
    AND NOT EXISTS (SELECT FROM chain_outgoingtransaction o WHERE o.purpose = 'payout'
        AND left(o.reference, 36) = p.id::text AND o.undone_count > 0)
""",
    ),
    Invariant(
        "payout_history_whole",
        "Every change of a payout's status has its row, each beginning where the one before ended",
        "SELECT count(*) FROM payouts_payout",
        """
WITH lines AS (
    SELECT payout_id, from_status, to_status, lag(to_status)
        OVER (PARTITION BY payout_id ORDER BY id) AS before,
           row_number() OVER (PARTITION BY payout_id ORDER BY id DESC) AS from_end
               FROM payouts_payouttransition
)
SELECT 'payout ' || payout_id, coalesce(before, 'nothing') || ', then from ' ||
    coalesce(from_status, 'nothing') FROM lines
WHERE from_status IS DISTINCT FROM before
UNION ALL
    SELECT 'payout ' || p.id, 'it is ' || p.status || ', and its history ends with ' ||
    coalesce(l.to_status, 'nothing')
FROM payouts_payout p LEFT JOIN lines l ON l.payout_id = p.id AND l.from_end = 1
    WHERE l.to_status IS DISTINCT FROM p.status
""",
        is_incremental=True,
    ),
    Invariant(
        "payouts_approved",
        "What a second person is asked for went on when another than its maker had approved it;"
        " nothing above the rule went without",
        "SELECT count(*) FROM payouts_payout",
        """
SELECT 'payout ' || p.id, 'it is ' || p.status || ', and its approval is ' || a.status
FROM payouts_payout p JOIN payouts_payoutapproval a ON a.id = p.approval_id
WHERE a.status <> 'approved' AND p.status NOT IN ('requires_review', 'failed')
UNION ALL SELECT 'payout ' || p.id, 'it was handed to the signer, and nobody had approved it'
FROM payouts_payout p JOIN payouts_payoutapproval a ON a.id = p.approval_id
JOIN chain_outgoingtransaction o ON o.purpose = 'payout' AND left(o.reference, 36) = p.id::text
WHERE a.status <> 'approved' OR p.mode = 'live' AND o.requested_at < a.decided_at
UNION ALL SELECT 'approval ' || a.id, 'it is worth ' || coalesce(a.worth_cents::text, 'nothing') ||
    ' ' || a.currency || ', and whoever decided was shown another worth'
FROM payouts_payoutapproval a JOIN stores_auditentry l ON l.target_id = a.id::text
    AND l.action IN ('payout_approval.approved', 'payout_approval.rejected')
WHERE l.details ? 'worth_cents' AND (l.details ->> 'worth_cents', l.details ->> 'currency')
    IS DISTINCT FROM (a.worth_cents::text, a.currency)
UNION ALL SELECT 'approval ' || id, 'nobody but its maker approved it' FROM payouts_payoutapproval
WHERE status = 'approved' AND (decided_by_id IS NULL OR decided_by_id = maker_id)
-- Whoever asked in the moment of a change may have asked under the rule of before.
UNION ALL
    SELECT 'payout ' || p.id, 'it is above what one person moves alone, and was never asked about'
FROM payouts_payout p JOIN payouts_approvalrule r ON r.store_id = p.store_id AND r.mode = p.mode
WHERE p.approval_id IS NULL AND p.created_at > r.changed_at + interval '1 minute'
  AND coalesce(p.worth_cents, 9223372036854775807)
      > CASE WHEN r.next_from <= p.created_at THEN r.next_above_cents ELSE r.above_cents END
""",
    ),
    Invariant(
        "removed_stay_removed",
        "A destination or schedule that the audit log says was removed isn't paid any more",
        "SELECT count(*) FROM payouts_destination",
        """
SELECT 'destination ' || d.id, 'it can be paid, and the audit log says that it was removed'
FROM payouts_destination d WHERE d.removed_at IS NULL AND EXISTS (
    SELECT FROM stores_auditentry l WHERE l.target_id = d.id::text
        AND l.action IN ('payout_destination.removed', 'payout_destination.stopped'))
UNION ALL SELECT 'schedule ' || c.id, 'it pays, and the audit log says that it was deleted'
FROM payouts_schedule c WHERE c.deleted_at IS NULL AND EXISTS (
    SELECT FROM stores_auditentry l WHERE l.target_id = c.id::text
        AND l.action IN ('payout_schedule.deleted', 'payout_schedule.stopped'))
""",
    ),
    Invariant(
        "due_times_paid_once",
        "A run of a schedule has made at most one payout",
        "SELECT count(*) FROM payouts_schedulerun",
        """
SELECT 'run ' || idempotency_key, count(*) || ' payouts' FROM payouts_payout
    WHERE schedule_id IS NOT NULL
GROUP BY idempotency_key HAVING count(*) > 1
""",
    ),
)
