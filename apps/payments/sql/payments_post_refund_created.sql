-- For the web: sets aside what a refund is about to send.
CREATE OR REPLACE FUNCTION payments_post_refund_created(p_refund uuid, p_at timestamp with time zone, OUT movement_id bigint, OUT is_new boolean, OUT moved_atomic numeric)
 RETURNS record
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'public', 'pg_temp'
AS $function$
DECLARE
    going payments_refund;
BEGIN
    SELECT r.* INTO going FROM payments_refund r
    JOIN payments_payment p ON p.id = r.payment_id AND p.store_id = r.store_id AND p.mode = r.mode
    WHERE r.id = p_refund AND r.status = 'pending' AND r.amount_atomic > 0 FOR NO KEY UPDATE OF r;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'permission denied for movement refund:% (refund_created): no refund waits for it', p_refund USING ERRCODE = '42501';
    END IF;
    SELECT * INTO movement_id, is_new, moved_atomic FROM ledger_book('refund:' || p_refund, 'refund_created', going.mode, going.payment_id, p_at, going.asset_id,
        ARRAY[going.store_id, going.store_id], ARRAY[CASE WHEN going.is_from_held THEN 'held' ELSE 'available' END, 'reserved'],
        ARRAY[-going.amount_atomic, going.amount_atomic], ARRAY['principal', 'principal']);
END $function$;
