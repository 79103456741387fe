"""Invariants of what was read from the chains: blocks without gaps up to the head, and deposits
that are in them."""

from apps.core.invariant import Invariant

CHAINS = (
    Invariant(
        "blocks_follow",
        "The blocks that were read follow one another without a gap, each on its parent, and the"
        " head is the last of them",
        "SELECT count(*) FROM chain_block WHERE is_canonical",
        """
WITH ordered AS (
    SELECT chain_id, number, hash, parent_hash, lag(number) OVER w AS before, lag(hash)
        OVER w AS before_hash,
           lead(number) OVER w IS NULL AS is_last
    FROM chain_block WHERE is_canonical WINDOW w AS (PARTITION BY chain_id ORDER BY number)
)
SELECT chain_id || ' block ' || number, CASE
    WHEN number <> before + 1 THEN (number - before - 1) || ' blocks before it were not read'
    ELSE 'its parent is not the block before it' END
FROM ordered WHERE number <> before + 1 OR parent_hash <> before_hash
UNION ALL
    SELECT 'head of ' || o.chain_id, 'it stands at ' || coalesce(h.number::text, 'nothing') ||
    ', read is up to ' || o.number
FROM ordered o LEFT JOIN chain_head h ON h.chain_id = o.chain_id
WHERE o.is_last AND (h.number, h.hash) IS DISTINCT FROM (o.number, o.hash)
""",
    ),
    Invariant(
        "deposits_in_blocks",
        "Every deposit is in the block that it names and agrees with the history of its payment",
        "SELECT count(*) FROM chain_deposit WHERE NOT is_simulated",
        """
SELECT 'deposit ' || d.id, 'block ' || d.block_number ||
    ' as it was read is not the one that it names'
FROM chain_deposit d
LEFT JOIN chain_block b ON b.chain_id = d.chain_id AND b.number = d.block_number AND b.is_canonical
WHERE NOT d.is_simulated AND d.status IN ('confirming', 'confirmed') AND b.hash IS DISTINCT
    FROM d.block_hash
UNION ALL SELECT 'deposit ' || (h.payload ->> 'deposit_id'), CASE
    WHEN d.id IS NULL THEN 'its payment was told of it, and there is no such deposit'
    WHEN a.payment_id IS DISTINCT FROM h.payment_id AND l.id IS NULL
        THEN 'another payment was told of it'
    ELSE 'its payment was told of ' || (h.payload ->> 'amount_atomic') || ' in ' ||
        (h.payload ->> 'tx_hash') END
FROM payments_paymentevent h LEFT JOIN chain_deposit d ON d.id::text = h.payload ->> 'deposit_id'
LEFT JOIN payments_paymentaddress a ON a.address_id = d.address_id
LEFT JOIN payments_latedeposit l ON l.deposit_id = d.id AND l.payment_id = h.payment_id
    AND l.accepted_at IS NOT NULL
WHERE h.event_type LIKE 'transaction.%%' AND h.payload ? 'deposit_id' AND (
      d.id IS NULL OR a.payment_id IS DISTINCT FROM h.payment_id AND l.id IS NULL
          OR d.tx_hash <> h.payload ->> 'tx_hash'
   OR (NOT d.is_simulated AND d.amount_atomic::text <> h.payload ->> 'amount_atomic'))
""",
        is_incremental=True,
    ),
    Invariant(
        "left_as_booked",
        "What deposits say is left at their address is no less than what was booked there and not"
        " brought away since, and no more than what came",
        "SELECT count(*) FROM chain_deposit WHERE NOT is_simulated",
        """
WITH place AS (
    SELECT chain_id, asset_id, address_id, sum(amount_atomic) AS came,
        sum(amount_atomic) FILTER (WHERE is_unswept) AS new,
        min(left_atomic) FILTER (WHERE NOT is_unswept) AS least,
        max(left_atomic) FILTER (WHERE NOT is_unswept) AS most
    FROM chain_deposit WHERE NOT is_simulated AND NOT is_lost AND status = 'confirmed'
        AND handled_status = 'confirmed' GROUP BY 1, 2, 3
    HAVING count(left_atomic) FILTER (WHERE NOT is_unswept) > 0
), rest AS (
    SELECT p.*, p.came - coalesce(p.new, 0) - coalesce((
        SELECT sum(CASE WHEN o.status <> 'failed' AND o.asset_id = p.asset_id
                THEN o.amount_atomic ELSE 0 END
            + CASE WHEN t.pays_fees THEN o.network_fee_atomic ELSE 0 END)
        FROM chain_outgoingtransaction o WHERE o.chain_id = p.chain_id
            AND o.from_address = p.address_id AND o.purpose = 'sweep'), 0) AS held
    FROM place p JOIN assets_asset t ON t.id = p.asset_id
)
SELECT 'address ' || r.address_id, 'its deposits say that up to ' || r.most || ' ' || r.asset_id ||
    ' are left, where ' || greatest(r.held, 0) || ' are'
FROM rest r WHERE (r.most < r.held OR r.most > r.came OR r.least < 0) AND NOT EXISTS (
    SELECT FROM chain_deposit d WHERE d.address_id = r.address_id AND d.is_lost)
""",
    ),
    Invariant(
        "stops_stand",
        "A hot wallet that was halted and sending that was held go on only as the audit log says,"
        " and what was signed was sent by a hot wallet of its chain",
        "SELECT count(*) FROM chain_hotwallet",
        """
WITH halts AS (
    SELECT DISTINCT ON (target_id) target_id, action FROM stores_auditentry
    WHERE action IN ('hot_wallet.halted', 'hot_wallet.resumed') ORDER BY target_id, id DESC
)
SELECT 'wallet ' || w.id, 'it goes on, and the audit log says that it was halted'
FROM chain_hotwallet w JOIN halts h ON h.target_id = w.id AND h.action = 'hot_wallet.halted'
WHERE w.halted_at IS NULL
UNION ALL SELECT 'hold ' || h.id, 'it is lifted, and the audit log doesn''t say by whom'
FROM chain_sendinghold h WHERE h.lifted_at IS NOT NULL AND EXISTS (
        SELECT FROM stores_auditentry l WHERE l.action = 'sending.held'
            AND l.target_id = h.id::text)
    AND NOT EXISTS (SELECT FROM stores_auditentry l WHERE l.action = 'sending.resumed'
        AND l.target_id = h.id::text)
UNION ALL SELECT 'hold ' || l.target_id, 'sending was held, and nothing says so any more'
FROM stores_auditentry l WHERE l.action = 'sending.held' AND NOT EXISTS (
    SELECT FROM chain_sendinghold h WHERE h.id::text = l.target_id)
UNION ALL SELECT 'wallet ' || o.from_address, 'it has sent ' || count(*) ||
    ' transactions, and is no hot wallet of ' || o.chain_id
FROM chain_outgoingtransaction o WHERE o.nonce IS NOT NULL AND o.purpose <> 'sweep'
    AND o.from_address <> ''
    AND NOT EXISTS (SELECT FROM chain_hotwallet w WHERE w.chain_id = o.chain_id
        AND w.address = o.from_address)
GROUP BY o.from_address, o.chain_id
""",
    ),
    Invariant(
        "sent_as_signed",
        "Every signed transaction goes to the recipient in its record",
        "SELECT count(*) FROM chain_signedtransaction WHERE raw <> ''",
        """
SELECT 'outgoing ' || o.id, 'its record says ' || o.to_address || ', which ' || t.tx_hash ||
    ' does not name'
FROM chain_signedtransaction t JOIN chain_outgoingtransaction o ON o.id = t.outgoing_id
WHERE t.raw <> '' AND position(lower(substr(o.to_address, 3)) IN lower(t.raw)) = 0
""",
    ),
)
