-- Refuses the web a sender who has paid nothing, or whose kind was found out already.
CREATE OR REPLACE FUNCTION chain_guard_payer()
 RETURNS trigger
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'public', 'pg_temp'
AS $function$
BEGIN
    IF NOT EXISTS (SELECT FROM chain_deposit d WHERE d.chain_id = NEW.chain_id
            AND d.tx_hash = NEW.tx_hash AND lower(d.from_address) = NEW.address AND NOT d.is_simulated)
        OR TG_OP = 'UPDATE' AND (OLD.kind, NEW.kind) <> ('unproven', 'account') THEN
        RAISE EXCEPTION 'permission denied for sender %: it has paid nothing, or was found to be another',
            NEW.address USING ERRCODE = '42501';
    END IF;
    RETURN NEW;
END $function$;

CREATE TRIGGER payer_has_paid BEFORE INSERT OR UPDATE ON chain_payer FOR EACH ROW WHEN (COALESCE(NULLIF(current_setting('role'::text), 'none'::text), SESSION_USER::text) = 'tillgate_web'::text) EXECUTE FUNCTION chain_guard_payer();
