"""Invariants of payments that payers have signed: each is carried out once, as signed, and its gas
is booked."""

from apps.core.invariant import Invariant
from apps.ledger import keys

X402 = (
    Invariant(
        "signed_payments_sent_once",
        "A settled signed payment has exactly one transaction, which carries out what was signed,"
        " or the deposit of somebody else's that did; a failed one has moved nothing",
        "SELECT count(*) FROM agents_signedpayment",
        """
WITH sent AS (
    SELECT s.id, s.status, s.answered_at, s.tx_hash, s.is_elsewhere, o.id AS outgoing,
        o.status AS sent_status, o.tx_hash AS sent_hash,
        EXISTS (SELECT FROM chain_deposit d WHERE d.address_id = f.pay_to_id
            AND d.tx_hash = s.tx_hash AND d.asset_id = f.asset_id AND d.from_address = s.payer
            AND d.amount_atomic = s.amount_atomic AND d.status <> 'failed') AS has_come,
           o.amount_atomic = s.amount_atomic AND o.to_address = s.contract_address
               AND o.chain_id = s.chain_id AND o.mode = s.mode
           AND substr(o.call_data, p.payer_at, 64) = lpad(substr(s.payer, 3), 64, '0')
           AND substr(o.call_data, p.to_at, 64) = lpad(substr(f.pay_to_id, 3), 64, '0')
           AND substr(o.call_data, p.nonce_at, 64) = substr(s.nonce, 3) AS is_as_signed
    FROM agents_signedpayment s JOIN agents_paymentoffer f ON f.id = s.offer_id
    LEFT JOIN chain_outgoingtransaction o ON o.purpose = 'x402' AND o.reference = s.id::text
    LEFT JOIN (VALUES (true, 395, 267, 139), (false, 11, 75, 331))
        AS p (is_permit, payer_at, to_at, nonce_at)
        ON p.is_permit = starts_with(o.call_data, '0x137c29fe')
)
SELECT 'signed payment ' || id, CASE
    WHEN is_elsewhere AND sent_status = 'confirmed' THEN 'ours carried it out, not another'
    WHEN is_elsewhere AND status = 'settled' THEN 'it is settled by ' || tx_hash ||
        ', which brought nothing'
    WHEN outgoing IS NULL THEN 'it is ' || status || ', and nothing was sent'
    WHEN NOT is_as_signed THEN 'what was sent is not what was signed'
    WHEN status = 'settled'
        THEN 'it is settled by ' || tx_hash || ', its transaction is ' || sent_status || ' as ' ||
        sent_hash
    WHEN status = 'failed' AND sent_status <> 'failed'
        THEN 'it failed, and its transaction is ' || sent_status
    ELSE 'its success was told, and it failed' END
FROM sent
WHERE (outgoing IS NULL AND status <> 'verified' AND NOT is_elsewhere) OR NOT is_as_signed
   OR (is_elsewhere AND (sent_status = 'confirmed' OR (status = 'settled' AND NOT has_come)))
   OR (status = 'settled' AND NOT is_elsewhere
       AND (sent_status <> 'confirmed' OR sent_hash <> tx_hash))
       OR (status = 'failed' AND sent_status <> 'failed')
   OR (status = 'failed' AND answered_at IS NOT NULL)
UNION ALL SELECT 'outgoing ' || o.id, 'it carries out no signed payment'
    FROM chain_outgoingtransaction o
WHERE o.purpose = 'x402' AND NOT EXISTS (SELECT 1 FROM agents_signedpayment s
    WHERE s.id::text = o.reference)
UNION ALL
    SELECT 'payer ' || max(lower(s.payer)), count(*) || ' signed payments of one authorization'
    FROM agents_signedpayment s
GROUP BY s.chain_id, lower(s.contract_address), lower(s.payer), lower(s.nonce) HAVING count(*) > 1
UNION ALL SELECT 'offer ' || s.offer_id, count(*) || ' signed payments pay it'
    FROM agents_signedpayment s WHERE s.status <> 'failed'
GROUP BY s.offer_id HAVING count(*) > 1
""",
    ),
    Invariant(
        "signed_payments_are_told",
        "A signed payment belongs to its offer's store and amount, its history ends where it"
        " stands, and what is over has its gas booked",
        "SELECT count(*) FROM agents_signedpayment",
        f"""
SELECT 'signed payment ' || s.id, 'it pays ' || s.amount_atomic || ' of ' || f.amount_atomic ||
    ', or another store'
FROM agents_signedpayment s JOIN agents_paymentoffer f ON f.id = s.offer_id
    JOIN payments_payment p ON p.id = f.payment_id
WHERE s.amount_atomic < f.amount_atomic OR s.store_id <> f.store_id OR s.mode <> f.mode
    OR f.store_id <> p.store_id OR f.mode <> p.mode
   OR NOT EXISTS (SELECT 1 FROM payments_paymentaddress a
                  WHERE a.payment_id = p.id AND a.address_id = f.pay_to_id
                      AND a.asset_id = f.asset_id
                  AND a.required_atomic = f.amount_atomic
                  AND (s.status = 'failed'
                      OR a.surcharge_atomic >= s.amount_atomic - f.amount_atomic))
UNION ALL
    SELECT 'signed payment ' || s.id, 'it is ' || s.status || ', its history says ' ||
    coalesce(t.to_status, 'nothing')
FROM agents_signedpayment s LEFT JOIN LATERAL (
    SELECT to_status FROM agents_signedpaymentstep WHERE signed_id = s.id ORDER BY id DESC
        LIMIT 1) t ON true
WHERE s.status IS DISTINCT FROM t.to_status
UNION ALL
    SELECT 'signed payment ' || s.id, 'its gas was ' || o.network_fee_atomic || ', booked is ' ||
    coalesce(b.gas, 0)
FROM agents_signedpayment s JOIN chain_outgoingtransaction o ON o.purpose = 'x402'
    AND o.reference = s.id::text
LEFT JOIN LATERAL (
    SELECT sum(e.amount_atomic) AS gas FROM ledger_movement m
        JOIN ledger_entry e ON e.movement_id = m.id
    JOIN ledger_account a ON a.id = e.account_id WHERE a.kind = 'custody_hot'
      AND m.key IN (SELECT {keys.X402_GAS.sql("s.id")}
                    UNION ALL SELECT {keys.MINED_AGAIN.sql("o.id", "n")}
                        FROM generate_series(1, o.undone_count) n)
) b ON true
WHERE o.handled_status IN ('confirmed', 'failed')
  AND CASE o.undone_count WHEN 0 THEN o.network_fee_atomic ELSE o.handled_fee_atomic
      END <> coalesce(b.gas, 0)
""",  # noqa: S608  # our own text
    ),
)
