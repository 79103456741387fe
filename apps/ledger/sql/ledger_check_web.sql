-- Refuses the web every kind of movement that it has no function for.
CREATE OR REPLACE FUNCTION ledger_check_web()
 RETURNS trigger
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'public', 'pg_temp'
AS $function$
DECLARE
    wrong record;
BEGIN
    SELECT m.key, m.kind INTO wrong FROM added JOIN ledger_movement m ON m.id = added.movement_id
    WHERE m.kind NOT IN ('payout_created', 'payout_released', 'payout_gas_charged', 'swap_created', 'x402_settled', 'refund_created',
        'transfer_return_created', 'deposit_confirmed', 'payment_settled', 'overpayment_settled', 'late_deposit_accepted',
        'withdrawal_created') AND (m.kind <> 'simulated_deposit_changed' OR m.mode <> 'test') LIMIT 1;
    IF FOUND THEN
        RAISE EXCEPTION 'permission denied for movement % (%): the web posts no such movement', wrong.key, wrong.kind
            USING ERRCODE = '42501';
    END IF;
    RETURN NULL;
END $function$;

CREATE TRIGGER entry_of_web AFTER INSERT ON ledger_entry REFERENCING NEW TABLE AS added FOR EACH STATEMENT WHEN (COALESCE(NULLIF(current_setting('role'::text), 'none'::text), SESSION_USER::text) = 'tillgate_web'::text) EXECUTE FUNCTION ledger_check_web();
