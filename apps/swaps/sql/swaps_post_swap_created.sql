-- For the web: sets aside what a swap is about to sell.
CREATE OR REPLACE FUNCTION swaps_post_swap_created(p_swap uuid, p_at timestamp with time zone, OUT movement_id bigint, OUT is_new boolean, OUT moved_atomic numeric)
 RETURNS record
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'public', 'pg_temp'
AS $function$
DECLARE
    swap swaps_swap;
BEGIN
    SELECT * INTO swap FROM swaps_swap WHERE id = p_swap AND status = 'pending' AND sell_amount_atomic > 0 FOR NO KEY UPDATE;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'permission denied for movement swap:% (swap_created): no swap waits for it', p_swap USING ERRCODE = '42501';
    END IF;
    SELECT * INTO movement_id, is_new, moved_atomic FROM ledger_book('swap:' || p_swap, 'swap_created', swap.mode, p_swap, p_at,
        swap.source_asset_id, ARRAY[swap.store_id, swap.store_id], ARRAY['available', 'reserved'],
        ARRAY[-swap.sell_amount_atomic, swap.sell_amount_atomic], ARRAY['principal', 'principal']);
END $function$;
