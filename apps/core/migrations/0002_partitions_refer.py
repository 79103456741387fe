"""Partitions of the same step refer to each other as those of the rest do, and what waits is asked for by
its own key: nothing is searched while everybody waits."""

from django.db import migrations

# As before, and with the references that the rest has by itself, each to the partition of its step.
MAKE = """
CREATE OR REPLACE FUNCTION partitions_make(p_tables text[], p_suffix text, p_from text, p_to text)
RETURNS void LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp
SET lock_timeout = '300ms' SET timezone = 'UTC' AS $$
DECLARE
    v_parent regclass;
    v_name text;
    v_reference record;
BEGIN
    PERFORM partitions_allowed(p_tables::regclass[]);
    FOREACH v_parent IN ARRAY p_tables::regclass[] LOOP
        v_name := v_parent || '_' || p_suffix;
        EXECUTE format('LOCK TABLE %s IN SHARE UPDATE EXCLUSIVE MODE', v_parent);
        CONTINUE WHEN to_regclass(v_name) IS NOT NULL;
        EXECUTE format('CREATE TABLE %I (LIKE %s INCLUDING DEFAULTS INCLUDING CONSTRAINTS'
            ' INCLUDING GENERATED INCLUDING STORAGE)', v_name, v_parent);
        FOR v_reference IN SELECT conname, replace(pg_get_constraintdef(oid), '_rest(',
                '_' || p_suffix || '(') AS definition FROM pg_constraint
            WHERE conrelid = to_regclass(v_parent || '_rest') AND contype = 'f'
                AND conparentid = 0 LOOP
            EXECUTE format('ALTER TABLE %I ADD CONSTRAINT %I %s', v_name, v_reference.conname,
                v_reference.definition);
        END LOOP;
        EXECUTE format('ALTER TABLE %s ATTACH PARTITION %I FOR VALUES FROM (%L) TO (%L)',
            v_parent, v_name, p_from, p_to);
    END LOOP;
END $$
"""
# All are locked before it is asked whether something waits, so that nothing can begin to wait after.
# What refers goes before what it refers to.
DROP = """
CREATE OR REPLACE FUNCTION partitions_drop(p_tables text[], p_suffix text, p_waiting text)
RETURNS void LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp
SET lock_timeout = '300ms' AS $$
DECLARE
    v_parent regclass;
    v_name text;
    v_key text;
    v_bounds text[];
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
        SELECT a.attname INTO STRICT v_key FROM pg_index i JOIN pg_attribute a
            ON a.attrelid = i.indrelid AND a.attnum = i.indkey[0]
            WHERE i.indrelid = p_waiting::regclass AND i.indisprimary;
        SELECT regexp_match(pg_get_expr(relpartbound, oid), 'FROM \\((.+)\\) TO \\((.+)\\)')
            INTO STRICT v_bounds FROM pg_class WHERE oid = to_regclass(v_name);
        EXECUTE format('SELECT EXISTS (SELECT 1 FROM %s WHERE %s AND %s)', p_waiting::regclass,
            CASE v_bounds[1] WHEN 'MINVALUE' THEN 'true'
                ELSE format('%I >= %s', v_key, v_bounds[1]) END,
            CASE v_bounds[2] WHEN 'MAXVALUE' THEN 'true'
                ELSE format('%I < %s', v_key, v_bounds[2]) END) INTO v_waits;
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
    dependencies = [('core', '0001_squashed_0017_only_partitions')]

    operations = [
        migrations.RunSQL("SET LOCAL lock_timeout = '5s'", migrations.RunSQL.noop),
        # Both do what they did for the tables of before.
        migrations.RunSQL(MAKE, migrations.RunSQL.noop),
        migrations.RunSQL(DROP, migrations.RunSQL.noop),
    ]
