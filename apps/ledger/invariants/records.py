"""Invariants between a movement and its subject: its date, and for a correction the line of the
audit log that signs it."""

from apps.core.invariant import Invariant
from apps.ledger import keys

_MARGIN = "interval '1 day'"

RECORDS = (
    Invariant(
        "movements_dated",
        "Every movement is dated between its record and now, in the order in which movements were"
        " posted",
        "SELECT count(*) FROM ledger_movement",
        f"""
WITH served AS (
    SELECT m.id, m.mode, m.kind, m.key, m.at,
           CASE WHEN m.kind <> 'correction'
               THEN coalesce(p.created_at, o.created_at, s.created_at, d.created_at) END AS since,
           p.completed_at,
           now() + CASE m.mode WHEN 'test' THEN coalesce(t.test_offset_seconds, 0) ELSE 0
               END * interval '1 second' AS until
    FROM ledger_movement m
    LEFT JOIN payments_payment p ON p.id = m.reference LEFT
        JOIN payouts_payout o ON o.id = m.reference
    LEFT JOIN swaps_swap s ON s.id = m.reference LEFT JOIN agents_settlement d ON d.id = m.reference
    LEFT JOIN stores_store t ON t.id = coalesce(p.store_id, o.store_id, s.store_id, d.store_id)
), ordered AS (
    -- Test clocks may be moved while something is posted; and what the chain decided is booked at
    -- the time of its block.
    SELECT id, at, lag(at) OVER w AS before, lead(at) OVER w AS after FROM ledger_movement
    WHERE mode = 'live' AND kind NOT IN ('sweep_confirmed', 'sweep_gas_sent', 'swap_approval_paid')
    WINDOW w AS (ORDER BY id)
)
SELECT 'movement ' || id, 'it is dated ' || at || why
FROM (
    SELECT id, at, since, until, completed_at, kind <> 'swap_approval_paid'
            AND (at < since - {_MARGIN} OR at > until + {_MARGIN}) AS is_outside,
        kind = 'payment_settled' AND at <> completed_at AS is_not_at_completion
    FROM served
) dated
CROSS JOIN LATERAL (
    SELECT ', outside of ' || since || ' to ' || until WHERE is_outside
    UNION ALL SELECT ', its payment was completed ' || completed_at WHERE is_not_at_completion
) breach(why)
WHERE is_outside OR is_not_at_completion
UNION ALL
    SELECT 'movement ' || id, 'it is dated ' || at || ', those around it ' ||
    coalesce(before::text, 'never') || ' and '
       || coalesce(after::text, 'never')
FROM ordered WHERE at < before - {_MARGIN} OR at > after + {_MARGIN}
UNION ALL
    SELECT 'movement ' || m.id, 'it is dated ' || m.at || ', its transaction ended ' ||
    o.finished_at
FROM ledger_movement m JOIN chain_outgoingtransaction o ON o.finished_at IS NOT NULL
    AND o.purpose IN ('sweep', 'sweep_gas')
 AND m.key = {keys.of_sweeper_sql("o")}
WHERE m.at NOT BETWEEN o.finished_at - {_MARGIN} AND o.finished_at + {_MARGIN}
""",  # noqa: S608  # our own text
        is_incremental=True,
        narrowed={
            "ledger_movement": (
                "SELECT * FROM ledger_movement WHERE id = ANY (%(dated_movements)s::bigint[])"
            )
        },
    ),
    Invariant(
        "corrections_signed",
        "Every correction has its line in the audit log, and each such line its correction, of the"
        " same account and amount",
        "SELECT count(*) FROM ledger_movement WHERE kind = 'correction'",
        """
WITH booked AS (
    SELECT m.id, m.mode, coalesce(max(stores_origin(a.store_id)::text), '') AS store,
           string_agg(concat_ws(' ', a.kind, e.asset_id, e.amount_atomic), ', ')
               FILTER (WHERE a.kind <> 'treasury') AS what
    FROM ledger_movement m LEFT JOIN ledger_entry e ON e.movement_id = m.id LEFT
        JOIN ledger_account a ON a.id = e.account_id
    WHERE m.kind = 'correction' GROUP BY m.id
), told AS (
    SELECT id, (details ->> 'movement')::bigint AS movement_id, mode,
        coalesce(store_id::text, '') AS store,
           concat_ws(' ', details ->> 'account', details ->> 'asset',
               details ->> 'amount_atomic') AS what
    FROM stores_auditentry WHERE action = 'books.corrected'
)
SELECT coalesce('movement ' || b.id, 'line ' || t.id), CASE
    WHEN t.id IS NULL THEN 'the audit log knows nothing of this correction'
    WHEN b.id IS NULL THEN 'it tells of a correction that is not booked: ' || t.what
    ELSE 'booked ' || coalesce(b.what, 'nothing') || ', the audit log says ' || t.what END
FROM booked b FULL JOIN told t ON t.movement_id = b.id WHERE (b.mode, b.store, b.what) IS DISTINCT
    FROM (t.mode, t.store, t.what)
""",
    ),
    Invariant(
        "movements_serve",
        "Every movement is of a known kind, and the record that it serves is there",
        "SELECT count(*) FROM ledger_movement",
        f"""
SELECT 'movement ' || id, 'it is a ' || kind || ', which nothing posts' FROM ledger_movement
    WHERE kind <> ALL (%(movement_kinds)s)
UNION ALL SELECT 'movement ' || m.id, 'it is a ' || m.kind || ' of no refund' FROM ledger_movement m
WHERE m.kind IN ('refund_created', 'refund_confirmed', 'refund_released', 'platform_fee_returned')
    AND NOT EXISTS (
    SELECT 1 FROM payments_refund r WHERE r.id::text = {keys.subject_sql("m.key")}
        AND r.payment_id = m.reference)
UNION ALL SELECT 'movement ' || m.id, 'it is a ' || m.kind || ' of no return' FROM ledger_movement m
WHERE m.kind IN ('transfer_return_created', 'transfer_return_confirmed', 'transfer_return_released')
    AND NOT EXISTS (
    SELECT 1 FROM payments_transferreturn r WHERE r.id::text = {keys.subject_sql("m.key")}
        AND r.payment_id = m.reference)
UNION ALL SELECT 'movement ' || m.id, 'it is a ' || m.kind || ' of no transaction'
    FROM ledger_movement m
WHERE m.kind IN ('sweep_confirmed', 'sweep_gas_sent') AND NOT EXISTS (
    SELECT 1 FROM chain_outgoingtransaction o
    WHERE o.purpose IN ('sweep', 'sweep_gas', 'sweep_batch')
        AND o.tx_hash = {keys.subject_sql("m.key")})
UNION ALL SELECT 'movement ' || m.id, 'it is a ' || m.kind || ' of no transaction'
    FROM ledger_movement m
WHERE m.kind = 'cold_transfer_sent' AND NOT EXISTS (
    SELECT 1 FROM chain_outgoingtransaction o WHERE o.purpose = 'cold' AND o.id = m.reference)
UNION ALL SELECT 'movement ' || m.id, 'it is a ' || m.kind || ' of no transaction'
    FROM ledger_movement m
WHERE m.kind = 'coins_joined' AND NOT EXISTS (
    SELECT 1 FROM chain_outgoingtransaction o WHERE o.purpose = 'join' AND o.id = m.reference)
UNION ALL SELECT 'movement ' || m.id, 'it is a ' || m.kind || ' of no transaction'
    FROM ledger_movement m
WHERE m.kind = 'attempt_gas_paid' AND NOT EXISTS (
    SELECT 1 FROM chain_outgoingtransaction o WHERE o.id = m.reference
        AND o.purpose IN ('refund', 'settlement', 'withdrawal'))
UNION ALL SELECT 'movement ' || m.id, 'it is a ' || m.kind || ' of no test payment'
    FROM ledger_movement m
WHERE m.kind = 'test_payment_sent'
    AND NOT EXISTS (SELECT 1 FROM payments_testpayment t WHERE t.id = m.reference)
UNION ALL SELECT 'movement ' || m.id, 'it is a ' || m.kind || ' of nothing' FROM ledger_movement m
WHERE (m.kind = 'swap_approval_paid'
    AND NOT EXISTS (SELECT 1 FROM swaps_swap s WHERE s.id = m.reference))
   OR (m.kind = 'payout_gas_paid'
       AND NOT EXISTS (SELECT 1 FROM payouts_payout o WHERE o.id = m.reference))
   OR (m.kind = 'x402_gas_paid' AND NOT EXISTS (
       SELECT 1 FROM agents_signedpayment g WHERE g.id::text = {keys.subject_sql("m.key")}))
""",  # noqa: S608  # our own text
        is_incremental=True,
    ),
)
