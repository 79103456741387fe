"""What must always hold of coins that are held: each stands for a payment of its store, and none has given more than it brought."""

from apps.console.invariant import Invariant

HELD = (
    Invariant(
        "held_for_its_payment",
        "What a store holds is held for payments of its own, and no payment has taken what another one brought",
        "SELECT count(DISTINCT m.reference) FROM ledger_movement m WHERE m.kind = 'deposit_confirmed'",
        """
WITH held AS (
    SELECT m.id, m.reference, m.kind, m.mode, a.store_id, e.asset_id, e.amount_atomic, e.id AS entry_id
    FROM ledger_account a JOIN ledger_entry e ON e.account_id = a.id JOIN ledger_movement m ON m.id = e.movement_id WHERE a.kind = 'held'
), steps AS (
    SELECT store_id, asset_id, reference, sum(amount_atomic) OVER (
        PARTITION BY store_id, mode, asset_id, reference ORDER BY entry_id) AS balance
    FROM held WHERE reference IS NOT NULL
)
SELECT 'payment ' || reference, 'it took ' || -min(balance) || ' ' || asset_id || ' that is held for others'
FROM steps WHERE balance < 0 GROUP BY reference, store_id, asset_id
UNION ALL SELECT 'movement ' || h.id, 'it holds coins for no payment of the store' FROM held h
WHERE NOT (h.reference IS NULL AND h.kind = 'correction')
  AND NOT EXISTS (SELECT 1 FROM payments_payment p WHERE p.id = h.reference AND p.store_id = h.store_id AND p.mode = h.mode)
""",
    ),
)
