-- For the web: sets aside what the return of an unmatched transfer is about to send.
CREATE OR REPLACE FUNCTION payments_post_transfer_return_created(p_return uuid, p_at timestamp with time zone, OUT movement_id bigint, OUT is_new boolean, OUT moved_atomic numeric)
 RETURNS record
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'public', 'pg_temp'
AS $function$
DECLARE
    going payments_transferreturn;
BEGIN
    SELECT r.* INTO going FROM payments_transferreturn r
    JOIN payments_payment p ON p.id = r.payment_id AND p.store_id = r.store_id AND p.mode = r.mode
    WHERE r.id = p_return AND r.status = 'pending' AND r.amount_atomic > 0 FOR NO KEY UPDATE OF r;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'permission denied for movement refund:% (transfer_return_created): no return waits for it', p_return USING ERRCODE = '42501';
    END IF;
    SELECT * INTO movement_id, is_new, moved_atomic FROM ledger_book('refund:' || p_return, 'transfer_return_created', going.mode, going.payment_id, p_at, going.asset_id,
        ARRAY[going.store_id, going.store_id], ARRAY['held', 'reserved'],
        ARRAY[-going.amount_atomic, going.amount_atomic], ARRAY['principal', 'principal']);
END $function$;
