-- For the web: holds for a payment what the watcher has written of a block that stands, or, in test
-- mode, what is simulated.
CREATE OR REPLACE FUNCTION payments_post_deposit_confirmed(p_deposit uuid, p_payment uuid, p_at timestamp with time zone, OUT movement_id bigint, OUT is_new boolean, OUT moved_atomic numeric)
 RETURNS record
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'public', 'pg_temp'
AS $function$
DECLARE
    payment payments_payment;
    deposit chain_deposit;
    is_own boolean;
BEGIN
    SELECT * INTO payment FROM payments_payment WHERE id = p_payment FOR NO KEY UPDATE;
    SELECT d.* INTO deposit FROM chain_deposit d JOIN payments_paymentaddress w ON w.address_id = d.address_id
    JOIN payments_payment p ON p.id = w.payment_id AND p.store_id = payment.store_id AND p.mode = payment.mode
    WHERE d.id = p_deposit AND d.status = 'confirmed' AND (d.is_simulated AND payment.mode = 'test' OR NOT d.is_simulated AND NOT d.is_lost AND EXISTS (
            SELECT FROM chain_block b WHERE b.chain_id = d.chain_id AND b.number = d.block_number
                AND b.hash = d.block_hash AND b.is_canonical)) FOR NO KEY UPDATE OF d;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'permission denied for movement deposit:% (deposit_confirmed): no chain has brought this', p_deposit USING ERRCODE = '42501';
    END IF;
    is_own := payments_is_own(deposit.address_id);
    SELECT * INTO movement_id, is_new, moved_atomic FROM ledger_book('deposit:' || p_deposit, 'deposit_confirmed', payment.mode, p_payment, p_at, deposit.asset_id,
        ARRAY[NULL, payment.store_id],
        CASE WHEN is_own THEN ARRAY['own_wallets', 'own_pending'] ELSE ARRAY[CASE WHEN deposit.is_simulated THEN 'custody_simulated' ELSE 'custody_deposits' END, 'held'] END,
        ARRAY[-deposit.amount_atomic, deposit.amount_atomic], ARRAY['principal', 'principal']);
END $function$;
