-- For the web: gives back what a failed payout has set aside, when no transaction and no order of an
-- off-ramp may still pay it.
CREATE OR REPLACE FUNCTION payouts_post_payout_released(p_payout uuid, p_at timestamp with time zone, OUT movement_id bigint, OUT is_new boolean, OUT moved_atomic numeric)
 RETURNS record
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'public', 'pg_temp'
AS $function$

DECLARE
    payout payouts_payout;
BEGIN
    SELECT * INTO payout FROM payouts_payout WHERE id = p_payout AND status = 'failed' FOR NO KEY UPDATE;
    IF NOT FOUND OR EXISTS (SELECT FROM chain_outgoingtransaction o WHERE o.purpose = 'payout' AND o.status <> 'failed'
            AND o.reference >= p_payout || '-' AND o.reference < p_payout || '.')
        OR EXISTS (SELECT FROM payouts_offramporder WHERE payout_id = p_payout AND failed_at IS NULL) THEN
        RAISE EXCEPTION 'permission denied for movement payout-released:% (payout_released): it may be on its way', p_payout
            USING ERRCODE = '42501';
    END IF;
    SELECT * INTO movement_id, is_new, moved_atomic FROM ledger_book('payout-released:' || p_payout, 'payout_released', payout.mode, p_payout, p_at, payout.asset_id,
        ARRAY[payout.store_id, payout.store_id], ARRAY['reserved', 'available'],
        ARRAY[-payout.amount_atomic, payout.amount_atomic], ARRAY['principal', 'principal']);
END $function$;
