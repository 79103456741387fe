"""Who may write a table's rows may make its next range of numbers, which PostgreSQL leaves to the
owner; and anybody may have divided tables analyzed that weren't for a week."""

from django.db import migrations

# Called by name of the table, so that grants.txt stays the one place that says who may. It makes
# nothing while there is half a range ahead, so nobody fills the catalog with it. A lock that isn't
# there at once is given up. Locks are taken in the order in which rows are written: first the row,
# then its line. What `rest` has received stays there: the next range begins beyond it.
MAKE = """
CREATE FUNCTION number_range_make(p_parent regclass) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp SET lock_timeout = '300ms'
AS $$
DECLARE
    c_rows CONSTANT bigint := 50000000;
    c_step CONSTANT bigint := 1000000;
    v_key name := number_ranges_allowed(p_parent);
    v_newest bigint;
    v_end bigint;
    v_name text;
    v_locked boolean := false;
    v_table regclass;
BEGIN
    LOOP
        EXECUTE format('SELECT coalesce(max(%I), 0) FROM %s', v_key, p_parent) INTO v_newest;
        SELECT max(bound::bigint) INTO v_end FROM (
            SELECT substring(pg_get_expr(c.relpartbound, c.oid) FROM 'TO \\(''(\\d+)''\\)') AS bound
            FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid WHERE i.inhparent = p_parent
        ) bounds;
        IF v_end - v_newest >= c_rows / 2 THEN
            RETURN;
        END IF;
        EXIT WHEN v_locked;
        FOR v_table IN SELECT DISTINCT confrelid FROM pg_constraint
            WHERE conrelid = p_parent AND contype = 'f' ORDER BY 1 LOOP
            EXECUTE format('LOCK TABLE %s IN SHARE ROW EXCLUSIVE MODE', v_table);
        END LOOP;
        EXECUTE format('LOCK TABLE ONLY %s IN SHARE UPDATE EXCLUSIVE MODE', p_parent);
        EXECUTE format('LOCK TABLE %I IN ACCESS EXCLUSIVE MODE', p_parent::text || '_rest');
        v_locked := true;
    END LOOP;
    IF v_newest >= v_end THEN
        v_end := (v_newest / c_step + 1) * c_step;
    END IF;
    v_name := p_parent::text || '_' || v_end;
    EXECUTE format('CREATE TABLE %I (LIKE %s INCLUDING DEFAULTS INCLUDING CONSTRAINTS'
        ' INCLUDING STORAGE)', v_name, p_parent);
    EXECUTE format('ALTER TABLE %s ATTACH PARTITION %I FOR VALUES FROM (%s) TO (%s)',
        p_parent, v_name, v_end, (v_end / c_rows + 1) * c_rows);
END $$
"""
ALLOWED = """
CREATE FUNCTION number_ranges_allowed(p_parent regclass) RETURNS name
LANGUAGE plpgsql STABLE SET search_path = public, pg_temp AS $$
DECLARE
    v_role text := coalesce(nullif(current_setting('role'), 'none'), session_user);
    v_key name;
BEGIN
    SELECT a.attname INTO v_key
    FROM pg_class c JOIN pg_partitioned_table p ON p.partrelid = c.oid
        JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum = p.partattrs[0]
    WHERE c.oid = p_parent AND c.relowner = current_user::regrole
        AND c.relnamespace = 'public'::regnamespace AND p.partstrat = 'r' AND p.partnatts = 1
        AND a.atttypid = 'bigint'::regtype;
    IF v_key IS NULL OR NOT has_table_privilege(v_role, p_parent, 'INSERT') THEN
        RAISE insufficient_privilege USING MESSAGE =
            format('%s may not make ranges of %s', v_role, p_parent);
    END IF;
    RETURN v_key;
END $$
"""
# PostgreSQL analyzes partitions by itself, but never the table that they are of, by whose figures it
# joins. Only that is done here: a sample of all partitions, as large for many rows as for few.
ANALYZE = """
CREATE FUNCTION partitions_analyze() RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp SET lock_timeout = '300ms'
AS $$
DECLARE
    v_table regclass;
BEGIN
    FOR v_table IN SELECT c.oid FROM pg_class c LEFT JOIN pg_stat_user_tables s ON s.relid = c.oid
        WHERE c.relkind = 'p' AND c.relnamespace = 'public'::regnamespace
            AND c.relowner = current_user::regrole
            AND coalesce(s.last_analyze < now() - interval '7 days', true) LOOP
        EXECUTE format('ANALYZE ONLY %s', v_table);
    END LOOP;
END $$
"""


class Migration(migrations.Migration):
    dependencies = [("core", "0015_steps_of_tables")]

    operations = [
        migrations.RunSQL("SET LOCAL lock_timeout = '5s'", migrations.RunSQL.noop),
        migrations.RunSQL(ALLOWED, "DROP FUNCTION number_ranges_allowed(regclass)"),
        migrations.RunSQL(MAKE, "DROP FUNCTION number_range_make(regclass)"),
        migrations.RunSQL(ANALYZE, "DROP FUNCTION partitions_analyze()"),
    ]
