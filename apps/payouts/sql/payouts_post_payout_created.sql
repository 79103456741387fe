-- For the web: sets aside what a payout is about to send.
CREATE OR REPLACE FUNCTION payouts_post_payout_created(p_payout uuid, p_at timestamp with time zone, OUT movement_id bigint, OUT is_new boolean, OUT moved_atomic numeric)
 RETURNS record
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'public', 'pg_temp'
AS $function$

DECLARE
    payout payouts_payout;
BEGIN
    SELECT * INTO payout FROM payouts_payout
    WHERE id = p_payout AND funds = 'reserved' AND status IN ('pending', 'requires_review') FOR NO KEY UPDATE;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'permission denied for movement payout:% (payout_created): no payout waits for it', p_payout
            USING ERRCODE = '42501';
    END IF;
    SELECT * INTO movement_id, is_new, moved_atomic FROM ledger_book('payout:' || p_payout, 'payout_created', payout.mode, p_payout, p_at, payout.asset_id,
        ARRAY[payout.store_id, payout.store_id], ARRAY['available', 'reserved'],
        ARRAY[-payout.amount_atomic, payout.amount_atomic], ARRAY['principal', 'principal']);
END $function$;
