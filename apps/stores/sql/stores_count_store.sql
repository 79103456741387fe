-- Counts a sub-merchant's store when it is added, changes or is removed.
CREATE OR REPLACE FUNCTION stores_count_store()
 RETURNS trigger
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'public', 'pg_temp'
AS $function$
BEGIN
    PERFORM public.stores_count_merchant(CASE TG_OP WHEN 'DELETE' THEN OLD.id ELSE NEW.id END);
    IF TG_OP = 'DELETE' THEN
        DELETE FROM public.stores_countedmerchant WHERE store_id = OLD.id;
    END IF;
    RETURN NULL;
END $function$;

CREATE TRIGGER merchant_added AFTER INSERT ON stores_store FOR EACH ROW WHEN (new.platform_id IS NOT NULL) EXECUTE FUNCTION stores_count_store();

CREATE TRIGGER merchant_changed AFTER UPDATE ON stores_store FOR EACH ROW WHEN ((old.platform_id IS NOT NULL OR new.platform_id IS NOT NULL) AND (old.platform_id IS DISTINCT FROM new.platform_id OR (old.deleted_at IS NULL) IS DISTINCT FROM (new.deleted_at IS NULL) OR (old.kyc_confirmed_at IS NULL) IS DISTINCT FROM (new.kyc_confirmed_at IS NULL))) EXECUTE FUNCTION stores_count_store();

CREATE TRIGGER merchant_removed AFTER DELETE ON stores_store FOR EACH ROW WHEN (old.platform_id IS NOT NULL) EXECUTE FUNCTION stores_count_store();
