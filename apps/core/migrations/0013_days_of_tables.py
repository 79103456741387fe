"""Who may delete a table's rows may make and drop its days, which PostgreSQL leaves to the owner."""

from django.db import migrations

# Called by name of the table, so that grants.txt stays the one place that says who may. A lock that
# isn't there at once is given up: whoever writes waits no longer than that.
MAKE = """
CREATE FUNCTION day_partition_make(p_parent regclass, p_first timestamptz) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp SET lock_timeout = '300ms'
SET timezone = 'UTC' AS $$
DECLARE
    v_name text := p_parent::text || '_' || to_char(p_first, 'YYYYMMDD');
BEGIN
    PERFORM day_partitions_allowed(p_parent);
    EXECUTE format('LOCK TABLE %s IN SHARE UPDATE EXCLUSIVE MODE', p_parent);
    IF to_regclass(v_name) IS NOT NULL THEN
        RETURN;
    END IF;
    EXECUTE format('CREATE TABLE %I (LIKE %s INCLUDING DEFAULTS INCLUDING CONSTRAINTS'
        ' INCLUDING STORAGE)', v_name, p_parent);
    EXECUTE format('ALTER TABLE %s ATTACH PARTITION %I FOR VALUES FROM (%L) TO (%L)',
        p_parent, v_name, p_first, p_first + interval '1 day');
END $$
"""
DROP = """
CREATE FUNCTION day_partition_drop(p_parent regclass, p_partition regclass) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp SET lock_timeout = '300ms'
AS $$
BEGIN
    PERFORM day_partitions_allowed(p_parent);
    IF NOT EXISTS (SELECT 1 FROM pg_inherits WHERE inhparent = p_parent
        AND inhrelid = p_partition) THEN
        RAISE EXCEPTION '% is no partition of %', p_partition, p_parent;
    END IF;
    EXECUTE format('DROP TABLE %s', p_partition);
END $$
"""
ALLOWED = """
CREATE FUNCTION day_partitions_allowed(p_parent regclass) RETURNS void
LANGUAGE plpgsql STABLE SET search_path = public, pg_temp AS $$
DECLARE
    v_role text := coalesce(nullif(current_setting('role'), 'none'), session_user);
BEGIN
    IF NOT EXISTS (SELECT 1 FROM pg_class WHERE oid = p_parent AND relkind = 'p'
        AND relowner = current_user::regrole AND relnamespace = 'public'::regnamespace)
        OR NOT has_table_privilege(v_role, p_parent, 'DELETE') THEN
        RAISE insufficient_privilege USING MESSAGE =
            format('%s may not make or drop days of %s', v_role, p_parent);
    END IF;
END $$
"""


class Migration(migrations.Migration):
    dependencies = [("core", "0012_job_of_paid_amounts")]

    operations = [
        migrations.RunSQL("SET LOCAL lock_timeout = '5s'", migrations.RunSQL.noop),
        migrations.RunSQL(ALLOWED, "DROP FUNCTION day_partitions_allowed(regclass)"),
        migrations.RunSQL(MAKE, "DROP FUNCTION day_partition_make(regclass, timestamptz)"),
        migrations.RunSQL(DROP, "DROP FUNCTION day_partition_drop(regclass, regclass)"),
    ]
