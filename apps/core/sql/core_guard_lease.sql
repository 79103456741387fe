-- Refuses that web takes a turn which isn't of its work, and that anybody but the watcher takes that of a network.
CREATE OR REPLACE FUNCTION core_guard_lease()
 RETURNS trigger
 LANGUAGE plpgsql
 SET search_path TO 'public', 'pg_temp'
AS $function$
DECLARE
    poster text := coalesce(nullif(current_setting('role'), 'none'), session_user);
    turns smallint[] := CASE TG_OP WHEN 'INSERT' THEN ARRAY[NEW.turn] WHEN 'DELETE' THEN ARRAY[OLD.turn]
        ELSE ARRAY[OLD.turn, NEW.turn] END;
BEGIN
    IF poster = 'tillgate_web' AND NOT turns <@ ARRAY[7, 10, 16]::smallint[]
            OR poster = 'tillgate_worker' AND 11 = ANY (turns) THEN
        RAISE EXCEPTION 'permission denied for turns %', turns
            USING ERRCODE = '42501', CONSTRAINT = 'turn_of_another';
    END IF;
    RETURN coalesce(NEW, OLD);
END $function$;

CREATE TRIGGER turn_of_another BEFORE INSERT OR DELETE OR UPDATE ON core_lease FOR EACH ROW EXECUTE FUNCTION core_guard_lease();
