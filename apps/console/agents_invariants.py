"""What must always hold of mandates and the draws on them."""

from apps.console.invariant import Invariant

AGENTS = (
    Invariant(
        "mandates_add_up",
        "What a mandate has spent is the sum of its draws that have not failed, and never above its cap",
        "SELECT count(*) FROM agents_mandate",
        """
SELECT 'mandate ' || m.id, 'it says ' || m.spent_atomic || ', its draws add up to ' || coalesce(sum(s.amount_atomic), 0)
FROM agents_mandate m LEFT JOIN agents_settlement s ON s.mandate_id = m.id AND s.status <> 'failed'
GROUP BY m.id HAVING m.spent_atomic <> coalesce(sum(s.amount_atomic), 0) OR m.spent_atomic > m.total_cap_atomic
""",
    ),
    Invariant(
        "draws_are_booked",
        "Every draw has its debit, a confirmed one its dispatch, a failed one its reversal, and none has what it shouldn't",
        "SELECT count(*) FROM agents_settlement",
        """
SELECT 'settlement ' || s.id, s.status || ' with ' || count(m.id) FILTER (WHERE m.kind = 'x402_settled') || ' debits, '
    || count(m.id) FILTER (WHERE m.kind = 'x402_confirmed') || ' dispatches, '
    || count(m.id) FILTER (WHERE m.kind = 'x402_reversed') || ' reversals'
FROM agents_settlement s LEFT JOIN ledger_movement m ON m.reference = s.id AND m.kind LIKE 'x402%%'
GROUP BY s.id
HAVING count(m.id) FILTER (WHERE m.kind = 'x402_settled') <> (s.amount_atomic > 0)::int
    OR count(m.id) FILTER (WHERE m.kind = 'x402_confirmed') <> (s.status = 'confirmed' AND s.amount_atomic > 0)::int
    OR count(m.id) FILTER (WHERE m.kind = 'x402_reversed') <> (s.status = 'failed' AND s.amount_atomic > 0)::int
""",
    ),
    Invariant(
        "x402_clearing_is_open",
        "The clearing of draws holds what is debited and neither dispatched nor reversed, per mode and asset",
        "SELECT count(*) FROM ledger_account WHERE kind = 'x402_clearing'",
        """
SELECT mode || ' ' || asset_id, 'the clearing holds ' || sum(booked) || ', open draws are ' || sum(open) FROM (
    SELECT mode, asset_id, ledger_balance(id) AS booked, 0 AS open FROM ledger_account WHERE kind = 'x402_clearing'
    UNION ALL SELECT mode, asset_id, 0, amount_atomic FROM agents_settlement WHERE status IN ('pending', 'submitted')
) sides GROUP BY mode, asset_id HAVING sum(booked) <> sum(open)
""",
    ),
)
