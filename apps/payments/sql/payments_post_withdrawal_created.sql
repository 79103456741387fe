-- For the web: sets aside earnings that the operator is about to take out.
CREATE OR REPLACE FUNCTION payments_post_withdrawal_created(p_withdrawal uuid, p_at timestamp with time zone, OUT movement_id bigint, OUT is_new boolean, OUT moved_atomic numeric)
 RETURNS record
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'public', 'pg_temp'
AS $function$
DECLARE
    going payments_withdrawal;
BEGIN
    SELECT * INTO going FROM payments_withdrawal
    WHERE id = p_withdrawal AND status IN ('requested', 'approved') AND amount_atomic > 0 FOR NO KEY UPDATE;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'permission denied for movement withdrawal:% (withdrawal_created): nobody has asked for this', p_withdrawal USING ERRCODE = '42501';
    END IF;
    SELECT * INTO movement_id, is_new, moved_atomic FROM ledger_book('withdrawal:' || p_withdrawal, 'withdrawal_created', going.mode, p_withdrawal, p_at, going.asset_id,
        ARRAY[NULL, NULL]::uuid[], ARRAY['service_fees', 'withdrawal_clearing'],
        ARRAY[-going.amount_atomic, going.amount_atomic], ARRAY['principal', 'principal']);
END $function$;
