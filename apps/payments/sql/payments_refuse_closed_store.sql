-- Refuses a payment of a sub-merchant's account that is closed.
CREATE OR REPLACE FUNCTION payments_refuse_closed_store()
 RETURNS trigger
 LANGUAGE plpgsql
 SET search_path TO 'public', 'pg_temp'
AS $function$
BEGIN
    PERFORM FROM stores_store WHERE id = NEW.store_id AND deleted_at IS NULL FOR KEY SHARE;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'the account % is closed', NEW.store_id USING ERRCODE = 'check_violation', CONSTRAINT = 'payment_store_is_open';
    END IF;
    RETURN NEW;
END $function$;

CREATE TRIGGER payment_store_is_open BEFORE INSERT ON payments_payment FOR EACH ROW WHEN (new.platform_id IS NOT NULL) EXECUTE FUNCTION payments_refuse_closed_store();
