-- Refuses a process to give an asset in which coins have come another contract or decimals.
CREATE OR REPLACE FUNCTION chain_guard_asset()
 RETURNS trigger
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'public', 'pg_temp'
AS $function$
BEGIN
    IF EXISTS (SELECT FROM chain_deposit d WHERE d.asset_id = OLD.id AND NOT d.is_simulated) THEN
        RAISE EXCEPTION 'coins have come in %: what it is stays', OLD.id
            USING ERRCODE = 'check_violation', CONSTRAINT = 'asset_is_kept';
    END IF;
    RETURN NEW;
END $function$;

CREATE TRIGGER asset_is_kept BEFORE UPDATE ON assets_asset FOR EACH ROW WHEN ((COALESCE(NULLIF(current_setting('role'::text), 'none'::text), SESSION_USER::text) = ANY (ARRAY['tillgate_web'::text, 'tillgate_worker'::text, 'tillgate_watcher'::text, 'tillgate_signer'::text])) AND (old.id::text IS DISTINCT FROM new.id::text OR old.chain_id::text IS DISTINCT FROM new.chain_id::text OR old.contract_address::text IS DISTINCT FROM new.contract_address::text OR old.atomic_decimals IS DISTINCT FROM new.atomic_decimals)) EXECUTE FUNCTION chain_guard_asset();
