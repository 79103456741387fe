-- Refuses a movement without entries at the end of its transaction.
CREATE OR REPLACE FUNCTION ledger_check_movement()
 RETURNS trigger
 LANGUAGE plpgsql
 SET enable_seqscan TO 'off'
 SET search_path TO 'public', 'pg_temp'
AS $function$
BEGIN
    IF NEW.xid <> pg_current_xact_id() OR NOT EXISTS (SELECT 1 FROM ledger_entry WHERE movement_id = NEW.id) THEN
        RAISE EXCEPTION 'movement % has no entries', NEW.id USING ERRCODE = '23514';
    END IF;
    RETURN NULL;
END $function$;

CREATE CONSTRAINT TRIGGER movement_has_entries AFTER INSERT ON ledger_movement DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION ledger_check_movement();
