-- Refuses what a store may not while staff have suspended it or its platform: payments, or payouts with swaps and draws.
CREATE OR REPLACE FUNCTION stores_refuse_suspended()
 RETURNS trigger
 LANGUAGE plpgsql
 SET search_path TO 'public', 'pg_temp'
AS $function$
DECLARE
    v_platform_id uuid;
    v_is_suspended boolean;
BEGIN
    IF TG_ARGV[0] = 'payouts' THEN
        PERFORM FROM stores_store
            WHERE id IN (NEW.store_id, (SELECT platform_id FROM stores_store WHERE id = NEW.store_id))
            ORDER BY id FOR SHARE;
    END IF;
    SELECT platform_id, CASE TG_ARGV[0] WHEN 'payouts' THEN payouts_suspended_at ELSE payments_suspended_at END IS NOT NULL
            OR archive_of_id IS NOT NULL OR NEW.mode = 'test' AND test_reset_at IS NOT NULL
        INTO v_platform_id, v_is_suspended FROM stores_store WHERE id = NEW.store_id;
    IF v_platform_id IS NOT NULL AND NOT v_is_suspended THEN
        SELECT CASE TG_ARGV[0] WHEN 'payouts' THEN payouts_suspended_at ELSE payments_suspended_at END IS NOT NULL
            OR archive_of_id IS NOT NULL OR NEW.mode = 'test' AND test_reset_at IS NOT NULL
            INTO v_is_suspended FROM stores_store WHERE id = v_platform_id;
    END IF;
    IF v_is_suspended THEN
        RAISE EXCEPTION 'the % of store % are suspended', TG_ARGV[0], NEW.store_id
            USING ERRCODE = 'check_violation', CONSTRAINT = 'store_' || TG_ARGV[0] || '_suspended';
    END IF;
    RETURN NEW;
END $function$;

CREATE TRIGGER settlement_store_pays_out BEFORE INSERT ON agents_settlement FOR EACH ROW EXECUTE FUNCTION stores_refuse_suspended('payouts');

CREATE TRIGGER payment_store_takes_payments BEFORE INSERT ON payments_payment FOR EACH ROW EXECUTE FUNCTION stores_refuse_suspended('payments');

CREATE TRIGGER payout_store_pays_out BEFORE INSERT ON payouts_payout FOR EACH ROW EXECUTE FUNCTION stores_refuse_suspended('payouts');

CREATE TRIGGER swap_store_pays_out BEFORE INSERT ON swaps_swap FOR EACH ROW EXECUTE FUNCTION stores_refuse_suspended('payouts');
