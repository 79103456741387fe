-- Refuses to change a held share that has a refund, and to make it another payment's, coin's or
-- payer's share.
CREATE OR REPLACE FUNCTION payments_guard_held_refund()
 RETURNS trigger
 LANGUAGE plpgsql
 SET search_path TO 'public', 'pg_temp'
AS $function$
BEGIN
    IF NEW.store_id <> OLD.store_id AND stores_is_put_away(OLD.store_id, NEW.store_id, NEW.mode)
       AND to_jsonb(NEW) - 'store_id' = to_jsonb(OLD) - 'store_id' THEN
        RETURN NEW;
    END IF;
    IF (OLD.payment_id, OLD.asset_id, OLD.payer_address, OLD.store_id, OLD.mode)
        IS DISTINCT FROM (NEW.payment_id, NEW.asset_id, NEW.payer_address, NEW.store_id, NEW.mode)
    OR EXISTS (SELECT 1 FROM public.payments_refund r WHERE r.held_id = OLD.id
        AND r.status <> 'failed') THEN
        RAISE EXCEPTION 'a share that has a refund is not changed, and none becomes another one'
            USING ERRCODE = 'check_violation', CONSTRAINT = 'held_refund_is_kept';
    END IF;
    RETURN NEW;
END $function$;

CREATE TRIGGER held_refund_guarded BEFORE UPDATE ON payments_heldrefund FOR EACH ROW EXECUTE FUNCTION payments_guard_held_refund();
