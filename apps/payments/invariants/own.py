"""Invariants of what came to merchants' own wallets: it is in memo accounts and in no other."""

from apps.core.invariant import Invariant

OWN = (
    Invariant(
        "own_wallets_apart",
        "What came to merchants' own wallets is booked among memo accounts alone, deposit by"
        " deposit, at addresses of wallets that their stores had chosen",
        "SELECT count(*) FROM chain_address WHERE purpose = 'own'",
        """
WITH reversed AS MATERIALIZED (
    SELECT split_part(key, ':', 2) AS deposit_id,
        sum(CASE kind WHEN 'own_deposit_reversed' THEN 1 ELSE -1 END) AS times
    FROM ledger_movement WHERE kind IN ('own_deposit_reversed', 'own_deposit_restored') GROUP BY 1
), booked AS (
    SELECT a.store_id, a.mode, a.asset_id, sum(ledger_balance(a.id)) AS amount
    FROM ledger_account a WHERE a.kind IN ('own_pending', 'own_received', 'own_fees_due')
    GROUP BY 1, 2, 3
), arrived AS (
    SELECT p.store_id, p.mode, d.asset_id, sum(d.amount_atomic) AS amount
    FROM payments_paymentaddress w JOIN payments_payment p ON p.id = w.payment_id
    JOIN chain_deposit d ON d.address_id = w.address_id AND d.asset_id = w.asset_id
        AND (d.handled_status = 'confirmed' OR d.is_lost)
    WHERE w.own_wallet_id IS NOT NULL
        AND d.id::text NOT IN (SELECT deposit_id FROM reversed WHERE times = 1)
    GROUP BY 1, 2, 3
), outside AS (
    SELECT mode, asset_id, -sum(ledger_balance(id)) AS amount FROM ledger_account
    WHERE kind = 'own_wallets' GROUP BY 1, 2
)
SELECT 'store ' || coalesce(b.store_id, r.store_id) || ' ' || coalesce(b.asset_id, r.asset_id),
    'its own wallet received ' || coalesce(r.amount, 0) || ', booked are ' || coalesce(b.amount, 0)
FROM booked b FULL JOIN arrived r
    ON (r.store_id, r.mode, r.asset_id) = (b.store_id, b.mode, b.asset_id)
WHERE coalesce(b.amount, 0) <> coalesce(r.amount, 0)
UNION ALL SELECT coalesce(o.mode, b.mode) || ' ' || coalesce(o.asset_id, b.asset_id),
    'memo accounts say ' || coalesce(b.amount, 0) || ' of ' || coalesce(o.amount, 0)
FROM outside o FULL JOIN (
    SELECT mode, asset_id, sum(amount) AS amount FROM booked GROUP BY 1, 2) b
    ON (b.mode, b.asset_id) = (o.mode, o.asset_id)
WHERE coalesce(o.amount, 0) <> coalesce(b.amount, 0)
UNION ALL SELECT 'movement ' || e.movement_id, 'it takes ' || sum(e.amount_atomic) ||
    ' out of memo accounts'
FROM ledger_account a JOIN ledger_entry e ON e.account_id = a.id
WHERE a.kind IN ('own_wallets', 'own_pending', 'own_received', 'own_fees_due')
GROUP BY e.movement_id, e.asset_id HAVING sum(e.amount_atomic) <> 0
UNION ALL SELECT 'deposit ' || r.deposit_id, CASE
    WHEN d.id IS NULL THEN 'it is reversed, and there is no such deposit to an own wallet'
    WHEN r.times NOT IN (0, 1) THEN 'it is reversed ' || r.times || ' times'
    ELSE 'it is reversed, and has long confirmed again' END
FROM reversed r LEFT JOIN chain_deposit d ON d.id::text = r.deposit_id AND EXISTS (
    SELECT FROM chain_address a WHERE a.address = d.address_id AND a.purpose = 'own')
WHERE d.id IS NULL OR r.times NOT IN (0, 1) OR r.times = 1 AND NOT d.is_lost
    AND d.confirmed_at < clock_timestamp() - make_interval(secs => %(stale_seconds)s)
UNION ALL SELECT 'movement ' || m.id, 'it moves ' || coalesce(sum(e.amount_atomic), 0) || ' of ' ||
    coalesce(max(d.amount_atomic), 0)
FROM ledger_movement m LEFT JOIN chain_deposit d ON d.id::text = split_part(m.key, ':', 2)
LEFT JOIN ledger_entry e ON e.movement_id = m.id AND e.account_id IN (
    SELECT id FROM ledger_account WHERE kind = 'own_wallets')
WHERE m.kind IN ('own_deposit_reversed', 'own_deposit_restored') GROUP BY m.id, m.kind
HAVING coalesce(sum(e.amount_atomic), 0) * CASE m.kind WHEN 'own_deposit_reversed' THEN 1 ELSE -1
    END IS DISTINCT FROM max(d.amount_atomic)
UNION ALL SELECT 'address ' || a.address, 'it is of no wallet that its store had chosen'
FROM chain_address a LEFT JOIN payments_paymentaddress w ON w.address_id = a.address
LEFT JOIN payments_payment p ON p.id = w.payment_id
LEFT JOIN chain_ownwallet o ON o.id = w.own_wallet_id
WHERE a.purpose = 'own' AND (o.id IS NULL OR o.number <> a.index >> 31
    OR o.store_id <> stores_origin(p.store_id) OR o.mode <> p.mode OR NOT EXISTS (
        SELECT FROM chain_walletchoice c WHERE c.wallet_id = o.id AND c.asset_id = w.asset_id
            AND c.store_id = stores_origin(p.store_id) AND c.mode = p.mode
            AND c.told_at IS NOT NULL))
UNION ALL SELECT 'payment address ' || w.id, 'it names a wallet, and its address is held'
FROM payments_paymentaddress w JOIN chain_address a ON a.address = w.address_id
WHERE w.own_wallet_id IS NOT NULL AND a.purpose <> 'own'
UNION ALL SELECT 'transaction ' || t.id, 'it leaves an address of a merchant''s own wallet'
FROM chain_outgoingtransaction t JOIN chain_address a ON a.address = t.from_address
    AND a.purpose = 'own'
""",
    ),
)
