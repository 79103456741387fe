"""Invariants of mandates and the draws on them."""

from apps.core.invariant import Invariant

AGENTS = (
    Invariant(
        "mandates_add_up",
        "What a mandate has spent is the sum of its draws that have not failed, and never above"
        " its cap; its history ends where it stands",
        "SELECT count(*) FROM agents_mandate",
        """
SELECT 'mandate ' || m.id, 'it says ' || m.spent_atomic || ', its draws add up to ' ||
    coalesce(sum(s.amount_atomic), 0)
FROM agents_mandate m LEFT JOIN agents_settlement s ON s.mandate_id = m.id AND s.status <> 'failed'
GROUP BY m.id HAVING m.spent_atomic <> coalesce(sum(s.amount_atomic), 0)
    OR m.spent_atomic > m.total_cap_atomic
UNION ALL SELECT 'mandate ' || m.id, 'it is ' || m.status || ', and its history ends with ' ||
    coalesce(l.to_status, 'nothing')
FROM agents_mandate m LEFT JOIN LATERAL (SELECT t.to_status FROM agents_mandatestep t
    WHERE t.mandate_id = m.id ORDER BY t.id DESC LIMIT 1) l ON true
WHERE l.to_status IS DISTINCT FROM m.status
""",
    ),
    Invariant(
        "draws_are_booked",
        "Every draw is debited to its store for its amount, a confirmed one dispatched, a failed"
        " one given back, and no other is",
        "SELECT count(*) FROM agents_settlement",
        """
WITH legs AS (
    SELECT m.reference AS id, m.kind, m.mode, e.asset_id, a.kind AS account, a.store_id,
        e.amount_atomic
    FROM ledger_movement m JOIN ledger_entry e ON e.movement_id = m.id AND e.role = 'principal'
    JOIN ledger_account a ON a.id = e.account_id
        WHERE m.kind IN ('x402_settled', 'x402_confirmed', 'x402_reversed')
), booked AS (
    SELECT s.id, s.status, s.amount_atomic,
           coalesce(sum(l.amount_atomic)
               FILTER (WHERE l.kind = 'x402_settled' AND account = 'x402_clearing'), 0) AS debited,
           coalesce(-sum(l.amount_atomic)
               FILTER (WHERE l.kind = 'x402_settled' AND account = 'available'), 0) AS spent,
           coalesce(-sum(l.amount_atomic)
               FILTER (WHERE l.kind = 'x402_confirmed'
               AND account = 'x402_clearing'), 0) AS dispatched,
           coalesce(sum(l.amount_atomic)
               FILTER (WHERE l.kind = 'x402_reversed' AND account = 'available'), 0) AS returned,
           bool_or(l.asset_id <> s.asset_id OR l.mode <> s.mode
               OR l.store_id <> s.store_id) AS is_misplaced
    FROM agents_settlement s LEFT JOIN legs l ON l.id = s.id
    GROUP BY s.id, s.status, s.amount_atomic
)
SELECT 'settlement ' || id, status || ' for ' || amount_atomic || ', debited ' || debited ||
    ', dispatched ' || dispatched
    || ', given back ' || returned || CASE WHEN is_misplaced
        THEN ', for another store, mode or asset' ELSE '' END
FROM booked WHERE debited <> amount_atomic OR spent <> amount_atomic OR is_misplaced
   OR dispatched <> CASE status WHEN 'confirmed' THEN amount_atomic ELSE 0 END
   OR returned <> CASE status WHEN 'failed' THEN amount_atomic ELSE 0 END
UNION ALL SELECT 'settlement ' || s.id, 'it names ' || coalesce(s.tx_ref, 'no transaction') ||
    ', which isn''t its own' FROM agents_settlement s
LEFT JOIN LATERAL (SELECT count(*) AS times, bool_or(o.status = 'confirmed') AS is_confirmed,
        bool_or(o.tx_hash = s.tx_ref AND (s.status <> 'confirmed' OR o.status = 'confirmed')
            OR EXISTS (SELECT FROM chain_signedtransaction g
                WHERE g.outgoing_id = o.id AND g.tx_hash = s.tx_ref)) AS is_its_own
    FROM chain_outgoingtransaction o WHERE o.purpose = 'settlement'
        AND left(o.reference, 36) = s.id::text) o ON true
WHERE s.tx_ref IS NOT NULL AND NOT coalesce(o.is_its_own, false)
    OR s.tx_ref IS NULL AND s.status = 'confirmed' AND s.is_dispatched AND o.is_confirmed
UNION ALL SELECT 'settlement ' || l.id, 'it is booked, and there is no such draw' FROM legs l
WHERE NOT EXISTS (SELECT 1 FROM agents_settlement s WHERE s.id = l.id)
""",
        is_incremental=True,
    ),
    Invariant(
        "x402_clearing_is_open",
        "The clearing of draws holds what is debited and neither dispatched nor reversed, per mode"
        " and asset",
        "SELECT count(*) FROM ledger_account WHERE kind = 'x402_clearing'",
        """
SELECT mode || ' ' || asset_id, 'the clearing holds ' || sum(booked) || ', open draws are ' ||
    sum(open) FROM (
    SELECT mode, asset_id, ledger_balance(id) AS booked, 0 AS open FROM ledger_account
        WHERE kind = 'x402_clearing'
    UNION ALL SELECT mode, asset_id, 0, amount_atomic FROM agents_settlement
        WHERE status IN ('pending', 'submitted')
) sides GROUP BY mode, asset_id HAVING sum(booked) <> sum(open)
""",
    ),
)
