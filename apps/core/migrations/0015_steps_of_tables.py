"""Who may delete the rows of tables may make and drop their partitions, whatever divides them. What does
it for days alone stays for workers of before, until the release after drops it."""

from django.db import migrations

ALLOWED = """
CREATE FUNCTION partitions_allowed(p_parents regclass[]) RETURNS void
LANGUAGE plpgsql STABLE SET search_path = public, pg_temp AS $$
DECLARE
    v_role text := coalesce(nullif(current_setting('role'), 'none'), session_user);
    v_parent regclass;
BEGIN
    FOREACH v_parent IN ARRAY p_parents LOOP
        IF NOT EXISTS (SELECT 1 FROM pg_class WHERE oid = v_parent AND relkind = 'p'
            AND relowner = current_user::regrole AND relnamespace = 'public'::regnamespace)
            OR NOT has_table_privilege(v_role, v_parent, 'DELETE') THEN
            RAISE insufficient_privilege USING MESSAGE =
                format('%s may not make or drop partitions of %s', v_role, v_parent);
        END IF;
    END LOOP;
END $$
"""
# Called by the names of tables, so that grants.txt stays the one place that says who may. A lock that
# isn't there at once is given up: whoever writes waits no longer than that.
MAKE = """
CREATE FUNCTION partitions_make(p_tables text[], p_suffix text, p_from text, p_to text) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp SET lock_timeout = '300ms'
SET timezone = 'UTC' AS $$
DECLARE
    v_parent regclass;
    v_name text;
BEGIN
    PERFORM partitions_allowed(p_tables::regclass[]);
    FOREACH v_parent IN ARRAY p_tables::regclass[] LOOP
        v_name := v_parent || '_' || p_suffix;
        EXECUTE format('LOCK TABLE %s IN SHARE UPDATE EXCLUSIVE MODE', v_parent);
        CONTINUE WHEN to_regclass(v_name) IS NOT NULL;
        EXECUTE format('CREATE TABLE %I (LIKE %s INCLUDING DEFAULTS INCLUDING CONSTRAINTS'
            ' INCLUDING GENERATED INCLUDING STORAGE)', v_name, v_parent);
        EXECUTE format('ALTER TABLE %s ATTACH PARTITION %I FOR VALUES FROM (%L) TO (%L)',
            v_parent, v_name, p_from, p_to);
    END LOOP;
END $$
"""
# All are locked before it is asked whether something waits, so that nothing can begin to wait after.
DROP = """
CREATE FUNCTION partitions_drop(p_tables text[], p_suffix text, p_waiting text) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp SET lock_timeout = '300ms'
AS $$
DECLARE
    v_parent regclass;
    v_name text;
    v_key text;
    v_waits boolean;
BEGIN
    PERFORM partitions_allowed(p_tables::regclass[]);
    FOREACH v_parent IN ARRAY p_tables::regclass[] LOOP
        v_name := v_parent || '_' || p_suffix;
        IF NOT EXISTS (SELECT 1 FROM pg_inherits WHERE inhparent = v_parent
            AND inhrelid = to_regclass(v_name)) THEN
            RAISE EXCEPTION '% is no partition of %', v_name, v_parent;
        END IF;
        EXECUTE format('LOCK TABLE %s IN ACCESS EXCLUSIVE MODE', v_parent);
    END LOOP;
    IF p_waiting IS NOT NULL THEN
        SELECT a.attname INTO STRICT v_key FROM pg_partitioned_table t JOIN pg_attribute a
            ON a.attrelid = t.partrelid AND a.attnum = t.partattrs[0]
            WHERE t.partrelid = v_parent;
        EXECUTE format('SELECT EXISTS (SELECT 1 FROM %I w WHERE EXISTS (SELECT 1 FROM %I p'
            ' WHERE p.%I = w.%I))', p_waiting, v_name, v_key, v_key) INTO v_waits;
        IF v_waits THEN
            RAISE object_in_use USING MESSAGE = format('%s has rows of %s', p_waiting, v_name);
        END IF;
    END IF;
    FOR v_name IN SELECT named || '_' || p_suffix
        FROM unnest(p_tables) WITH ORDINALITY AS n (named, place) ORDER BY place DESC LOOP
        EXECUTE format('DROP TABLE %I', v_name);
    END LOOP;
END $$
"""


class Migration(migrations.Migration):
    dependencies = [('core', '0014_one_index_a_beginning')]

    operations = [
        migrations.RunSQL("SET LOCAL lock_timeout = '5s'", migrations.RunSQL.noop),
        migrations.RunSQL(ALLOWED, 'DROP FUNCTION partitions_allowed(regclass[])'),
        migrations.RunSQL(MAKE, 'DROP FUNCTION partitions_make(text[], text, text, text)'),
        migrations.RunSQL(DROP, 'DROP FUNCTION partitions_drop(text[], text, text)'),
    ]
