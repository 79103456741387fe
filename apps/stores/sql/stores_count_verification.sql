-- Counts a sub-merchant's store when a verification of it is added or decided.
CREATE OR REPLACE FUNCTION stores_count_verification()
 RETURNS trigger
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'public', 'pg_temp'
AS $function$
DECLARE
    v_store_id uuid := CASE TG_OP WHEN 'DELETE' THEN OLD.store_id ELSE NEW.store_id END;
BEGIN
    IF EXISTS (SELECT FROM public.stores_store
            WHERE id = v_store_id AND platform_id IS NOT NULL) THEN
        PERFORM public.stores_count_merchant(v_store_id);
    END IF;
    RETURN NULL;
END $function$;

CREATE TRIGGER verification_changed AFTER UPDATE ON stores_verification FOR EACH ROW WHEN (old.status::text IS DISTINCT FROM new.status::text) EXECUTE FUNCTION stores_count_verification();

CREATE TRIGGER verification_counted AFTER INSERT OR DELETE ON stores_verification FOR EACH ROW EXECUTE FUNCTION stores_count_verification();
