"""The turn of a network's watcher is the watcher's alone, and web takes those of its own work: a
process that holds another's turn stops what it does for everybody."""

from django.db import migrations

# By apps.core.db.locks: TEST_CLOCK, CARD_SESSION and DRAWING are web's, CHAIN_WATCHER the watcher's.
FORWARD = """
CREATE FUNCTION core_guard_lease() RETURNS trigger
LANGUAGE plpgsql SET search_path = public, pg_temp AS $$
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
END $$;
CREATE TRIGGER turn_of_another BEFORE INSERT OR UPDATE OR DELETE ON core_lease FOR EACH ROW
    EXECUTE FUNCTION core_guard_lease();
"""
BACKWARD = """
DROP TRIGGER turn_of_another ON core_lease;
DROP FUNCTION core_guard_lease;
"""


class Migration(migrations.Migration):
    dependencies = [("core", "0004_indexes_of_lanes")]

    operations = [
        migrations.RunSQL("SET LOCAL lock_timeout = '5s'", migrations.RunSQL.noop),
        migrations.RunSQL(FORWARD, BACKWARD),
    ]
