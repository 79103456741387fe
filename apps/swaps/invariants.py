"""Invariants of swaps and sweeps."""

from apps.core.invariant import Invariant
from apps.ledger import keys

SWAPS = (
    # Legs are joined by their key alone: by store they would be compared each with each of a store.
    Invariant(
        "swaps_booked",
        "Every swap is booked once, up to its status, for what it sold and bought",
        "SELECT count(*) FROM swaps_swap",
        f"""
WITH legs AS (
    SELECT m.key, e.asset_id, a.kind, a.store_id, sum(e.amount_atomic) AS amount
    FROM ledger_movement m JOIN ledger_entry e ON e.movement_id = m.id
        JOIN ledger_account a ON a.id = e.account_id
    WHERE m.kind IN ('swap_created', 'swap_completed', 'swap_released', 'swap_exchanged')
        GROUP BY 1, 2, 3, 4
)
SELECT 'swap ' || s.id, 'it is ' || s.status || ', and not booked so' FROM swaps_swap s
LEFT JOIN legs l ON l.key = {keys.SWAP.sql("s.id")} AND l.kind = 'reserved'
    AND (l.asset_id, l.store_id) IS NOT DISTINCT FROM (s.source_asset_id, s.store_id)
WHERE (s.status = 'completed') <> EXISTS (SELECT 1 FROM ledger_movement
        WHERE key = {keys.SWAP_COMPLETED.sql("s.id")})
 OR (s.status = 'failed') <> EXISTS (SELECT 1 FROM ledger_movement
     WHERE key = {keys.SWAP_RELEASED.sql("s.id")})
 OR l.amount IS DISTINCT FROM s.sell_amount_atomic
UNION ALL
    SELECT 'swap ' || s.id, 'it bought ' || s.actual_buy_amount_atomic || ', booked ' ||
    coalesce(l.amount, 0) FROM swaps_swap s
LEFT JOIN legs l ON l.key = {keys.SWAP_COMPLETED.sql("s.id")} AND l.kind = 'available'
    AND (l.asset_id, l.store_id) IS NOT DISTINCT FROM (s.buy_asset_id, s.store_id)
WHERE s.status = 'completed' AND l.amount IS DISTINCT FROM s.actual_buy_amount_atomic
UNION ALL SELECT 'swap ' || s.id, 'it brought less than the least that was agreed' FROM swaps_swap s
WHERE s.actual_buy_amount_atomic < s.min_buy_amount_atomic
UNION ALL
    SELECT 'swap ' || s.id, 'the exchange made it as ' ||
    coalesce(o.received_atomic || ' (' || o.status || ')', 'nothing')
FROM swaps_swap s LEFT JOIN chain_outgoingtransaction o ON o.purpose = 'swap'
    AND o.reference = s.id::text
LEFT JOIN legs l ON l.key = {keys.SWAP_EXCHANGED.sql("s.id")} AND l.kind = 'swap_clearing'
    AND l.asset_id IS NOT DISTINCT FROM s.buy_asset_id
WHERE s.status = 'completed' AND (s.provider = 'uniswap' OR o.id IS NOT NULL)
  AND (o.id IS NULL OR o.status <> 'confirmed'
      OR (o.undone_count = 0 AND o.received_atomic <> s.actual_buy_amount_atomic)
       OR o.amount_atomic <> s.sell_amount_atomic OR o.asset_id <> s.source_asset_id
           OR o.receives_asset_id <> s.buy_asset_id OR o.tx_hash IS DISTINCT FROM s.tx_hash
       OR l.amount IS DISTINCT FROM s.actual_buy_amount_atomic)
UNION ALL SELECT 'swap ' || s.id, 'it names ' || coalesce(s.tx_hash, 'no transaction') ||
    ', which isn''t its own'
FROM swaps_swap s LEFT JOIN chain_outgoingtransaction o ON o.purpose = 'swap'
    AND o.reference = s.id::text
WHERE s.tx_hash IS NOT NULL AND s.tx_hash IS DISTINCT FROM o.tx_hash AND NOT EXISTS (
    SELECT FROM chain_signedtransaction g WHERE g.outgoing_id = o.id AND g.tx_hash = s.tx_hash)
UNION ALL SELECT 'movement ' || m.id, 'it serves no swap' FROM ledger_movement m
WHERE m.kind IN ('swap_created', 'swap_completed', 'swap_released', 'swap_exchanged')
  AND NOT EXISTS (SELECT 1 FROM swaps_swap s WHERE s.id = m.reference)
""",  # noqa: S608  # our own text
        is_incremental=True,
    ),
    Invariant(
        "swaps_history_whole",
        "Every change of a swap's status has its row, each from where the one before it ended",
        "SELECT count(*) FROM swaps_swapstep",
        """
WITH steps AS (
    SELECT swap_id, from_status, to_status, lag(to_status)
        OVER (PARTITION BY swap_id ORDER BY id) AS before,
           lead(id) OVER (PARTITION BY swap_id ORDER BY id) IS NULL AS is_last FROM swaps_swapstep
)
SELECT 'swap ' || swap_id, coalesce(before, 'nothing') || ' to ' || to_status FROM steps
WHERE from_status IS DISTINCT FROM before OR (before IS NULL AND to_status <> 'pending')
UNION ALL
    SELECT 'swap ' || s.id, 'it is ' || s.status || ', its history says ' ||
    coalesce(t.to_status, 'nothing')
FROM swaps_swap s LEFT JOIN steps t ON t.swap_id = s.id AND t.is_last WHERE s.status IS DISTINCT
    FROM t.to_status
""",
        is_incremental=True,
    ),
    Invariant(
        "sweeps_booked",
        "Every sweep is booked once for what arrived, went to the hot wallet, and no address gave"
        " more than was paid in or sent to it for gas",
        "SELECT count(*) FROM chain_outgoingtransaction WHERE purpose IN ('sweep', 'sweep_gas')",
        f"""
WITH booked AS (
    SELECT m.key, e.asset_id, sum(e.amount_atomic) AS amount FROM ledger_movement m
        JOIN ledger_entry e ON e.movement_id = m.id
    JOIN ledger_account a ON a.id = e.account_id
        WHERE m.kind IN ('sweep_confirmed', 'sweep_gas_sent')
      AND a.kind = 'custody_deposits' AND e.role = 'principal' GROUP BY 1, 2
)
SELECT o.purpose || ' ' || o.id, 'moved ' || o.amount_atomic || ', booked ' || coalesce(b.amount, 0)
FROM chain_outgoingtransaction o LEFT JOIN booked b ON b.asset_id = o.asset_id
 AND b.key = {keys.of_sweeper_sql("o")}
WHERE o.purpose IN ('sweep', 'sweep_gas') AND o.handled_status = 'confirmed'
  AND b.amount IS DISTINCT FROM CASE o.purpose
      WHEN 'sweep' THEN coalesce(nullif(o.received_atomic, 0), o.amount_atomic)
      ELSE -o.amount_atomic END
UNION ALL SELECT 'sweep ' || o.id, 'it went to ' || o.to_address FROM chain_outgoingtransaction o
WHERE o.purpose = 'sweep' AND o.status <> 'failed'
  AND NOT EXISTS (SELECT 1 FROM chain_hotwallet w WHERE w.chain_id = o.chain_id
      AND w.address = o.to_address)
UNION ALL SELECT 'address ' || o.from_address, 'gave ' || sum(o.amount_atomic) || ' ' || o.asset_id
FROM chain_outgoingtransaction o WHERE o.purpose = 'sweep' AND o.status <> 'failed'
    GROUP BY o.from_address, o.asset_id
HAVING sum(o.amount_atomic) > coalesce((SELECT sum(d.amount_atomic) FROM chain_deposit d
    WHERE d.address_id = o.from_address
    AND d.asset_id = o.asset_id AND NOT d.is_simulated
        AND (d.status = 'confirmed' OR d.is_lost)), 0)
    + coalesce((SELECT sum(g.amount_atomic) - coalesce((SELECT sum(s.network_fee_atomic)
                FROM chain_outgoingtransaction s WHERE s.chain_id = min(g.chain_id)
                AND s.from_address = o.from_address AND s.purpose = 'sweep'), 0)
        FROM chain_outgoingtransaction g
        WHERE g.chain_id = min(o.chain_id) AND g.to_address = o.from_address
        AND g.purpose = 'sweep_gas' AND g.asset_id = o.asset_id AND g.status <> 'failed'), 0)
""",  # noqa: S608  # our own text
    ),
)
