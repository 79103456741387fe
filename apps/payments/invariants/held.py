"""Invariants of coins that are held: each belongs to a payment of its store, and none has given
more than it brought."""

from apps.chain.sending.attempts import references_sql
from apps.chain.simulated import other_hash_sql
from apps.core.invariant import Invariant
from apps.ledger import keys

HELD = (
    Invariant(
        "held_for_its_payment",
        "What a store holds is held for payments of its own, and no payment has taken what another"
        " one brought",
        "SELECT count(DISTINCT m.reference) FROM ledger_movement m WHERE m.kind ="
        " 'deposit_confirmed'",
        """
WITH held AS (
    SELECT m.id, m.reference, m.kind, m.mode, a.store_id, e.asset_id, e.amount_atomic,
        e.id AS entry_id
    FROM ledger_account a JOIN ledger_entry e ON e.account_id = a.id
        JOIN ledger_movement m ON m.id = e.movement_id WHERE a.kind IN ('held', 'own_pending')
), steps AS (
    SELECT store_id, asset_id, reference, sum(amount_atomic) OVER (
        PARTITION BY store_id, mode, asset_id, reference ORDER BY entry_id) AS balance
    FROM held WHERE reference IS NOT NULL
)
SELECT 'payment ' || reference, 'it took ' || -min(balance) || ' ' || asset_id ||
    ' that is held for others'
FROM steps WHERE balance < 0 GROUP BY reference, store_id, asset_id
UNION ALL SELECT 'movement ' || h.id, 'it holds coins for no payment of the store' FROM held h
WHERE NOT (h.reference IS NULL AND h.kind = 'correction')
  AND NOT EXISTS (SELECT 1 FROM payments_payment p WHERE p.id = h.reference
      AND p.store_id = h.store_id AND p.mode = h.mode)
""",
        is_incremental=True,
    ),
    Invariant(
        "transfers_claimed_once",
        "An unmatched transfer that is booked was claimed by the store whose address it came to,"
        " and what goes back is what came",
        "SELECT count(*) FROM chain_unmatchedtransfer",
        f"""
WITH claimed AS (
    SELECT d.id, u.id AS transfer_id, u.outcome, d.amount_atomic, d.asset_id, d.from_address,
        p.id AS payment_id, p.store_id, p.mode,
           EXISTS (SELECT 1 FROM payments_latedeposit l WHERE l.deposit_id = d.id) AS is_accepted
    FROM chain_deposit d JOIN payments_paymentaddress s ON s.address_id = d.address_id
        AND s.asset_id <> d.asset_id
    JOIN payments_payment p ON p.id = s.payment_id
    LEFT JOIN chain_unmatchedtransfer u ON u.chain_id = d.chain_id AND u.tx_hash = d.tx_hash
        AND u.log_index = d.log_index
    WHERE d.handled_status = 'confirmed' OR d.is_lost
)
SELECT 'deposit ' || c.id, 'it is booked, and nobody has claimed it' FROM claimed c
    WHERE c.transfer_id IS NULL
UNION ALL SELECT 'deposit ' || c.id, 'it was accepted, and has gone back' FROM claimed c
    WHERE c.is_accepted
  AND EXISTS (SELECT 1 FROM payments_transferreturn r WHERE r.transfer_id = c.transfer_id
      AND r.status <> 'failed')
UNION ALL SELECT 'return ' || r.id, 'it is not what came, or goes to somebody else'
FROM payments_transferreturn r LEFT JOIN claimed c ON c.transfer_id = r.transfer_id
WHERE (r.asset_id, r.amount_atomic, r.payment_id, r.store_id, r.mode)
      IS DISTINCT FROM (c.asset_id, c.amount_atomic, c.payment_id, c.store_id, c.mode)
    OR r.is_elsewhere <> (r.destination_address <> lower(c.from_address))
UNION ALL SELECT 'return ' || r.id, 'it is ' || r.status || ', and not booked so'
    FROM payments_transferreturn r WHERE
    NOT EXISTS (SELECT 1 FROM ledger_movement WHERE key = {keys.REFUND.sql("r.id")})
 OR (r.status = 'confirmed') <> EXISTS (SELECT 1 FROM ledger_movement
     WHERE key = {keys.REFUND_CONFIRMED.sql("r.id")})
 OR (r.status = 'failed') <> EXISTS (SELECT 1 FROM ledger_movement
     WHERE key = {keys.REFUND_RELEASED.sql("r.id")})
UNION ALL SELECT 'return ' || r.id, 'it was not sent as asked'
FROM payments_transferreturn r LEFT JOIN LATERAL (
    SELECT t.*, count(*) OVER () AS times FROM chain_outgoingtransaction t
    WHERE t.purpose = 'refund' AND t.reference = ANY ({references_sql("r.id")})
        AND t.status <> 'failed' LIMIT 1) o ON true
WHERE NOT r.is_simulated AND r.status = 'confirmed'
    AND (o.id IS NULL OR o.times > 1 OR o.status <> 'confirmed'
      OR o.amount_atomic <> r.amount_atomic OR o.tx_hash IS DISTINCT FROM r.tx_hash
      OR o.asset_id <> r.asset_id OR lower(o.to_address) <> lower(r.destination_address))
UNION ALL SELECT 'return ' || r.id, 'it is simulated, and names another transaction than its own'
FROM payments_transferreturn r WHERE r.is_simulated AND {other_hash_sql("r")}
""",  # noqa: S608  # our own text
        is_incremental=True,
    ),
)
