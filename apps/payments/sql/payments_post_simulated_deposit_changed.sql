-- For the web: books by how much a simulated deposit of test mode has changed.
CREATE OR REPLACE FUNCTION payments_post_simulated_deposit_changed(p_deposit uuid, p_payment uuid, p_at timestamp with time zone, OUT movement_id bigint, OUT is_new boolean, OUT moved_atomic numeric)
 RETURNS record
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'public', 'pg_temp'
AS $function$
DECLARE
    payment payments_payment;
    deposit chain_deposit;
    grown numeric;
BEGIN
    SELECT * INTO payment FROM payments_payment WHERE id = p_payment FOR NO KEY UPDATE;
    SELECT d.* INTO deposit FROM chain_deposit d JOIN payments_paymentaddress w ON w.address_id = d.address_id
    WHERE d.id = p_deposit AND d.is_simulated AND w.payment_id = p_payment AND payment.mode = 'test' FOR NO KEY UPDATE OF d;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'permission denied for movement deposit:% (simulated_deposit_changed): nobody has simulated this', p_deposit USING ERRCODE = '42501';
    END IF;
    SELECT deposit.amount_atomic - sum(e.amount_atomic) INTO grown
    FROM ledger_movement m JOIN ledger_entry e ON e.movement_id = m.id JOIN ledger_account a ON a.id = e.account_id
    WHERE m.reference = p_payment AND a.kind IN ('held', 'own_pending') AND m.kind IN ('deposit_confirmed', 'simulated_deposit_changed')
        AND split_part(m.key, ':', 2) = p_deposit::text;
    IF coalesce(grown, 0) = 0 THEN
        RAISE EXCEPTION 'permission denied for movement deposit:% (simulated_deposit_changed): it is booked as it is', p_deposit
            USING ERRCODE = '42501';
    END IF;
    SELECT * INTO movement_id, is_new, moved_atomic FROM ledger_book('deposit:' || p_deposit || ':' || gen_random_uuid(), 'simulated_deposit_changed', 'test', p_payment, p_at,
        deposit.asset_id, ARRAY[NULL, payment.store_id], CASE WHEN payments_is_own(deposit.address_id) THEN ARRAY['own_wallets', 'own_pending'] ELSE ARRAY['custody_simulated', 'held'] END, ARRAY[-grown, grown], ARRAY['principal', 'principal']);
END $function$;
