-- Refuses to lower the fewest confirmations of a network.
CREATE OR REPLACE FUNCTION chain_keeps_its_floor()
 RETURNS trigger
 LANGUAGE plpgsql
 SET search_path TO 'public', 'pg_temp'
AS $function$
BEGIN
    IF NEW.confirmations_floor < OLD.confirmations_floor THEN
        RAISE EXCEPTION 'the fewest confirmations of a network are never lowered'
            USING ERRCODE = 'check_violation', CONSTRAINT = 'chain_keeps_its_floor';
    END IF;
    RETURN NEW;
END $function$;

CREATE TRIGGER chain_keeps_its_floor BEFORE UPDATE ON assets_chain FOR EACH ROW EXECUTE FUNCTION chain_keeps_its_floor();
