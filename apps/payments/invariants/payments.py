"""Invariants of payments: each deposit booked once, each payment settled once, refunds sent once,
and a history without gaps."""

from apps.chain.sending.attempts import references_sql
from apps.chain.simulated import other_hash_sql
from apps.core.invariant import Invariant
from apps.ledger import keys
from apps.payments.invariants.sums import SUMS

PAYMENTS = (
    Invariant(
        "deposits_booked_once",
        "Every confirmed deposit is booked once, for its payment's store, and no unconfirmed"
        " one is",
        "SELECT count(*) FROM chain_deposit",
        f"""
WITH booked AS (
    SELECT {keys.subject_sql("m.key")} AS deposit_id, max(m.mode) AS mode,
        max(m.reference::text) AS reference,
           sum(e.amount_atomic)
               FILTER (WHERE a.kind IN ('held', 'own_pending')) AS amount,
           max(e.asset_id) AS asset_id,
           max(a.store_id::text) AS store_id, max(a.kind)
               FILTER (WHERE a.store_id IS NULL) AS custody
    FROM ledger_movement m JOIN ledger_entry e ON e.movement_id = m.id
        JOIN ledger_account a ON a.id = e.account_id
    WHERE m.kind IN ('deposit_confirmed', 'simulated_deposit_changed') GROUP BY 1
), compared AS (
    SELECT coalesce(d.id::text, b.deposit_id) AS id, CASE
        WHEN d.id IS NULL THEN 'it is booked, and there is no such deposit'
        WHEN d.is_lost AND d.status <> 'failed' THEN 'it is called lost, and it is ' || d.status
        WHEN d.is_lost AND b.deposit_id IS NULL THEN 'it is called lost, and was never booked'
        WHEN b.deposit_id IS NULL AND d.handled_status = 'confirmed'
            THEN 'it confirmed, and is not booked'
        WHEN b.deposit_id IS NULL AND d.status = 'confirmed'
             AND d.confirmed_at < clock_timestamp() - make_interval(secs => %(stale_seconds)s)
             THEN 'it confirmed long ago, and is not booked'
        WHEN b.deposit_id IS NULL THEN NULL
        WHEN d.status <> 'confirmed' AND NOT d.is_lost THEN 'it is booked, and ' || d.status
        WHEN b.amount IS DISTINCT FROM d.amount_atomic
            THEN 'booked ' || coalesce(b.amount, 0) || ' of ' || d.amount_atomic
        WHEN p.id IS NULL OR p.store_id::text <> b.store_id OR p.mode <> b.mode
            OR b.asset_id <> d.asset_id
             OR p.id::text <> b.reference AND NOT (s.asset_id <> d.asset_id AND EXISTS (
                 SELECT 1 FROM payments_latedeposit l JOIN payments_payment q ON q.id = l.payment_id
                     WHERE l.deposit_id = d.id
                   AND l.accepted_at IS NOT NULL AND q.id::text = b.reference
                       AND q.store_id = p.store_id AND q.mode = p.mode))
             THEN 'it is booked for another store, payment, mode or asset'
        WHEN b.custody IS DISTINCT FROM CASE WHEN EXISTS (SELECT FROM chain_address o
                WHERE o.address = d.address_id AND o.purpose = 'own') THEN 'own_wallets'
            WHEN d.is_simulated THEN 'custody_simulated' ELSE 'custody_deposits' END
            THEN 'it is booked against ' || b.custody
    END AS why
    FROM chain_deposit d FULL JOIN booked b ON b.deposit_id = d.id::text
    LEFT JOIN payments_paymentaddress s ON s.address_id = d.address_id LEFT
        JOIN payments_payment p ON p.id = s.payment_id
)
SELECT 'deposit ' || id, why FROM compared WHERE why IS NOT NULL
""",  # noqa: S608  # our own text
        is_incremental=True,
    ),
    Invariant(
        "payments_settled_once",
        "Every completed payment is settled in full, once per asset received, and no other is; a"
        " late deposit only when accepted",
        "SELECT count(*) FROM payments_payment WHERE completed_at IS NOT NULL",
        f"""
WITH settled AS (
    SELECT m.reference AS payment_id, e.asset_id, -sum(e.amount_atomic) AS gross
    FROM ledger_movement m JOIN ledger_entry e ON e.movement_id = m.id
    WHERE m.kind IN ('payment_settled', 'overpayment_settled') AND e.role = 'gross' GROUP BY 1, 2
), received AS (
    SELECT s.payment_id, d.asset_id, coalesce(sum(d.amount_atomic)
        FILTER (WHERE NOT d.is_lost), 0) AS least,
           sum(d.amount_atomic) AS most
    FROM chain_deposit d JOIN payments_paymentaddress s ON s.address_id = d.address_id
        AND s.asset_id = d.asset_id
    WHERE (d.handled_status = 'confirmed' AND d.status = 'confirmed' OR d.is_lost)
      AND NOT EXISTS (SELECT 1 FROM payments_latedeposit l WHERE l.deposit_id = d.id) GROUP BY 1, 2
)
SELECT 'payment ' || coalesce(t.payment_id, r.payment_id),
       'received ' || coalesce(r.least, 0) || ', settled ' || coalesce(t.gross, 0) || ' ' ||
           coalesce(t.asset_id, r.asset_id)
FROM settled t FULL JOIN received r ON r.payment_id = t.payment_id AND r.asset_id = t.asset_id
LEFT JOIN payments_payment p ON p.id = coalesce(t.payment_id, r.payment_id)
WHERE p.id IS NULL OR (p.completed_at IS NULL AND t.gross IS NOT NULL)
   OR (p.completed_at IS NOT NULL AND coalesce(t.gross, 0) NOT BETWEEN coalesce(r.least, 0)
       AND coalesce(r.most, 0))
UNION ALL SELECT 'deposit ' || d.id, 'it came late: ' || CASE WHEN l.accepted_at IS NULL
    THEN 'settled, and not accepted'
    ELSE 'accepted, and not settled for its amount' END
FROM payments_latedeposit l JOIN chain_deposit d ON d.id = l.deposit_id LEFT JOIN (
    SELECT m.key, -sum(e.amount_atomic) AS gross FROM ledger_movement m
        JOIN ledger_entry e ON e.movement_id = m.id AND e.role = 'gross'
    WHERE m.kind = 'late_deposit_accepted' GROUP BY m.key) t
    ON t.key = {keys.SETTLE_LATE.sql("d.id")}
WHERE (l.accepted_at IS NULL AND t.key IS NOT NULL)
    OR (l.accepted_at IS NOT NULL AND t.gross IS DISTINCT FROM d.amount_atomic)
""",  # noqa: S608  # our own text
        is_incremental=True,
    ),
    Invariant(
        "splits_add_up",
        "Net, service fee and platform fee add up to the gross, at the payment's own fractions,"
        " each on its owner's account",
        "SELECT count(*) FROM ledger_movement WHERE kind = ANY (%(settling)s)",
        """
WITH split AS (
    SELECT m.id, m.reference, -coalesce(sum(e.amount_atomic)
        FILTER (WHERE e.role = 'gross'), 0) AS gross,
           coalesce(sum(e.amount_atomic) FILTER (WHERE e.role = 'net'), 0) AS net,
           coalesce(sum(e.amount_atomic) FILTER (WHERE e.role = 'service_fee'), 0) AS service_fee,
           coalesce(sum(e.amount_atomic) FILTER (WHERE e.role = 'platform_fee'), 0) AS platform_fee,
           bool_or(CASE e.role WHEN 'gross' THEN a.kind NOT IN ('held', 'own_pending')
                                   OR a.store_id <> p.store_id
                               WHEN 'net' THEN a.kind NOT IN ('available', 'own_received')
                                   OR a.store_id <> p.store_id
                               WHEN 'service_fee' THEN a.kind NOT IN ('service_fees',
                                   'own_fees_due')
                               WHEN 'platform_fee' THEN a.kind <> 'available'
                                   OR a.store_id IS DISTINCT FROM p.platform_id
                               ELSE true END) AS is_misplaced
    FROM ledger_movement m JOIN ledger_entry e ON e.movement_id = m.id
        JOIN ledger_account a ON a.id = e.account_id
    LEFT JOIN payments_payment p ON p.id = m.reference
    WHERE m.kind = ANY (%(settling)s) GROUP BY m.id, m.reference
)
SELECT 'movement ' || s.id, 'gross ' || gross || ', net ' || net || ', fees ' || service_fee ||
    ' and ' || platform_fee
FROM split s LEFT JOIN payments_payment p ON p.id = s.reference
WHERE p.id IS NULL OR is_misplaced OR gross <> net + service_fee + platform_fee
    OR service_fee <> floor(gross * p.fee_fraction)
   OR platform_fee <> CASE WHEN p.platform_id IS NULL THEN 0
       ELSE floor(gross * coalesce(p.platform_fee_fraction, 0)) END
""",
        is_incremental=True,
    ),
    Invariant(
        "reserved_is_open",
        "The reserved balance of a store is the sum of its open payouts, refunds and swaps",
        "SELECT count(*) FROM ledger_account WHERE kind = 'reserved'",
        """
WITH reserved AS (
    SELECT store_id, mode, asset_id, ledger_balance(id) AS amount FROM ledger_account
        WHERE kind = 'reserved'
), open_ones AS (
    SELECT store_id, mode, asset_id, amount_atomic FROM payments_refund
        WHERE status IN ('pending', 'submitted')
    UNION ALL SELECT store_id, mode, asset_id, amount_atomic FROM payments_transferreturn
        WHERE status IN ('pending', 'submitted')
    UNION ALL SELECT store_id, mode, source_asset_id, sell_amount_atomic FROM swaps_swap
        WHERE status IN ('pending', 'submitted')
    UNION ALL SELECT store_id, mode, asset_id, amount_atomic FROM payouts_payout
        WHERE funds = 'reserved'
), under_way AS (
    SELECT store_id, mode, asset_id, sum(amount_atomic) AS amount FROM open_ones
        GROUP BY store_id, mode, asset_id
)
SELECT 'store ' || store_id || ' ' || mode || ' ' || asset_id,
       'reserved ' || coalesce(r.amount, 0) || ', under way ' || coalesce(u.amount, 0)
FROM reserved r FULL JOIN under_way u USING (store_id, mode, asset_id)
    WHERE coalesce(r.amount, 0) <> coalesce(u.amount, 0)
""",
    ),
    Invariant(
        "refunds_booked",
        "Every refund is booked up to its status, and a payment's refunds never exceed what "
        "it received",
        "SELECT count(*) FROM payments_refund",
        f"""
SELECT 'refund ' || r.id, 'it is ' || r.status || ', and not booked so' FROM payments_refund r
    WHERE r.status <> 'pending' AND (
    (r.status = 'confirmed') <> EXISTS (SELECT 1 FROM ledger_movement
        WHERE key = {keys.REFUND_CONFIRMED.sql("r.id")})
 OR (r.status = 'failed') <> EXISTS (SELECT 1 FROM ledger_movement
     WHERE key = {keys.REFUND_RELEASED.sql("r.id")}))
UNION ALL SELECT 'refund ' || r.id, 'booked ' || coalesce(t.amount, 0) || ' of ' || r.amount_atomic
    FROM payments_refund r LEFT JOIN (
    SELECT m.key, sum(e.amount_atomic) FILTER (WHERE a.kind = 'reserved') AS amount
    FROM ledger_movement m JOIN ledger_entry e ON e.movement_id = m.id
        JOIN ledger_account a ON a.id = e.account_id
    WHERE m.kind = 'refund_created' GROUP BY m.key) t ON t.key = {keys.REFUND.sql("r.id")}
        WHERE t.amount IS DISTINCT FROM r.amount_atomic
UNION ALL
    SELECT 'payment ' || r.payment_id, 'refunds of ' || sum(r.amount_atomic) || ' ' || r.asset_id ||
    ', received ' || coalesce((
    SELECT sum(d.amount_atomic) FROM chain_deposit d
    WHERE d.id IN (SELECT c.id FROM payments_paymentaddress s
            JOIN chain_deposit c ON c.address_id = s.address_id WHERE s.payment_id = r.payment_id
        UNION SELECT l.deposit_id FROM payments_latedeposit l
            WHERE l.payment_id = r.payment_id AND l.accepted_at IS NOT NULL)
        AND d.asset_id = r.asset_id AND (d.status = 'confirmed' OR d.is_lost)), 0)
FROM payments_refund r WHERE r.status <> 'failed' GROUP BY r.payment_id, r.asset_id
HAVING sum(r.amount_atomic) > coalesce((
    SELECT sum(d.amount_atomic) FROM chain_deposit d
    WHERE d.id IN (SELECT c.id FROM payments_paymentaddress s
            JOIN chain_deposit c ON c.address_id = s.address_id WHERE s.payment_id = r.payment_id
        UNION SELECT l.deposit_id FROM payments_latedeposit l
            WHERE l.payment_id = r.payment_id AND l.accepted_at IS NOT NULL)
        AND d.asset_id = r.asset_id AND (d.status = 'confirmed' OR d.is_lost)), 0)
""",  # noqa: S608  # our own text
        is_incremental=True,
    ),
    Invariant(
        "sent_once",
        "No two transactions serve one purpose, no nonce is used twice or skipped, and a sent"
        " refund is what was asked",
        "SELECT count(*) FROM chain_outgoingtransaction",
        f"""
SELECT purpose || ' ' || reference, count(*) || ' transactions serve it'
    FROM chain_outgoingtransaction
GROUP BY purpose, reference HAVING count(*) > 1
UNION ALL
    SELECT chain_id || ' ' || from_address, 'nonces ' || min(nonce) || ' to ' || max(nonce) ||
    ' in ' || count(*) || ' transactions'
FROM (SELECT chain_id, from_address, nonce FROM chain_outgoingtransaction WHERE nonce IS NOT NULL
      UNION SELECT chain_id, from_address, nonce FROM chain_unknowntransaction) used
GROUP BY chain_id, from_address HAVING count(*) <> max(nonce) - min(nonce) + 1
UNION ALL
    SELECT chain_id || ' ' || from_address, 'nonce ' || nonce || ' is used ' || count(*) || ' times'
FROM chain_outgoingtransaction WHERE nonce IS NOT NULL GROUP BY chain_id, from_address, nonce
    HAVING count(*) > 1
UNION ALL
    SELECT 'wallet ' || w.id, 'its next nonce is ' || w.next_nonce || ', and ' ||
    max(u.nonce) || ' is used'
FROM chain_hotwallet w JOIN (
    SELECT chain_id, from_address, nonce FROM chain_outgoingtransaction WHERE nonce IS NOT NULL
    UNION ALL SELECT chain_id, from_address, nonce FROM chain_unknowntransaction
) u ON u.chain_id = w.chain_id AND u.from_address = w.address
GROUP BY w.id, w.next_nonce HAVING w.next_nonce <> max(u.nonce) + 1
UNION ALL SELECT 'refund ' || r.id,
       'it was sent as ' || coalesce(o.amount_atomic || ' ' || o.asset_id ||
           ' (' || o.status || ')', 'nothing')
FROM payments_refund r LEFT JOIN LATERAL (
    SELECT t.*, count(*) OVER () AS times FROM chain_outgoingtransaction t
    WHERE t.purpose = 'refund' AND t.reference = ANY ({references_sql("r.id")})
        AND t.status <> 'failed' LIMIT 1) o ON true
WHERE NOT r.is_simulated AND r.status = 'confirmed'
    AND (o.id IS NULL OR o.times > 1 OR o.status <> 'confirmed'
      OR o.amount_atomic <> r.amount_atomic
      OR o.asset_id <> r.asset_id OR lower(o.to_address) <> lower(r.destination_address)
      OR o.tx_hash IS DISTINCT FROM r.tx_hash)
UNION ALL SELECT 'refund ' || r.id, 'it is simulated, and names another transaction than its own'
FROM payments_refund r WHERE r.is_simulated AND {other_hash_sql("r")}
""",  # noqa: S608  # our own text
    ),
    Invariant(
        "history_whole",
        "Every change of a payment's status has its row, in the order of the transition table",
        "SELECT count(*) FROM payments_payment",
        """
WITH steps AS (
    SELECT payment_id, sequence, event_type, from_status, to_status,
           payload ->> 'state_reason' AS reason,
           lag(to_status) OVER (PARTITION BY payment_id ORDER BY sequence) AS before,
           row_number() OVER (PARTITION BY payment_id ORDER BY sequence) AS number,
           lead(sequence) OVER (PARTITION BY payment_id ORDER BY sequence) IS NULL AS is_last
    FROM payments_paymentevent WHERE event_type = ANY (%(status_events)s)
)
SELECT 'payment ' || payment_id, coalesce(before, 'nothing') || ' to ' ||
    coalesce(to_status, 'nothing') || ' by ' || event_type FROM steps
WHERE (number = 1 AND (from_status IS NOT NULL OR to_status IS DISTINCT FROM 'pending'
    OR event_type <> 'payment_intent.created'))
   OR (number > 1 AND (from_status IS DISTINCT FROM before OR event_type <> 'payment_intent.' ||
       (CASE WHEN event_type = %(canceled)s AND to_status = 'expired' THEN 'canceled' ELSE to_status
           END)
       OR NOT EXISTS (SELECT 1 FROM jsonb_array_elements(%(moves)s::jsonb) AS move
           WHERE move = jsonb_build_array(before, to_status))))
UNION ALL
    SELECT 'payment ' || p.id, 'it is ' || p.status || ', its history says ' ||
    coalesce(s.to_status, 'nothing')
FROM payments_payment p LEFT JOIN steps s ON s.payment_id = p.id AND s.is_last
    WHERE p.status IS DISTINCT FROM s.to_status
UNION ALL
    SELECT 'payment ' || p.id, 'its reason is ' || coalesce(p.state_reason, 'none') ||
    ', its history says ' || s.reason
FROM payments_payment p JOIN steps s ON s.payment_id = p.id AND s.is_last
WHERE p.status IN ('completed', 'failed', 'expired') AND s.reason IS DISTINCT FROM p.state_reason
    AND NOT (p.state_reason = 'completed_overpaid' AND EXISTS (
        SELECT FROM payments_paymentevent e WHERE e.payment_id = p.id AND e.sequence > s.sequence
            AND e.event_type = 'transaction.confirmed'))
""",
        is_incremental=True,
    ),
    *SUMS,
)
