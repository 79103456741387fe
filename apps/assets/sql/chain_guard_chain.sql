-- Refuses a process to give a network whose blocks were read another number or mode.
CREATE OR REPLACE FUNCTION chain_guard_chain()
 RETURNS trigger
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'public', 'pg_temp'
AS $function$
BEGIN
    IF EXISTS (SELECT FROM chain_head h WHERE h.chain_id = OLD.id) THEN
        RAISE EXCEPTION 'blocks of % were read: what it is stays', OLD.id
            USING ERRCODE = 'check_violation', CONSTRAINT = 'chain_is_kept';
    END IF;
    RETURN NEW;
END $function$;

CREATE TRIGGER chain_is_kept BEFORE UPDATE ON assets_chain FOR EACH ROW WHEN ((COALESCE(NULLIF(current_setting('role'::text), 'none'::text), SESSION_USER::text) = ANY (ARRAY['tillgate_web'::text, 'tillgate_worker'::text, 'tillgate_watcher'::text, 'tillgate_signer'::text])) AND (old.id::text IS DISTINCT FROM new.id::text OR old.chain_id IS DISTINCT FROM new.chain_id OR old.mode::text IS DISTINCT FROM new.mode::text OR old.family::text IS DISTINCT FROM new.family::text)) EXECUTE FUNCTION chain_guard_chain();
