"""Everything until 0017_only_partitions in one step; SQL that Django does not generate follows, as PostgreSQL prints it."""

import uuid
from apps.core.db.first_tables import FirstTables
from django.db import migrations, models

SQL = [
    # Letters whose key begins with what they are about.
    r"""CREATE INDEX core_outgoingmail_key_a01c7f66_like ON core_outgoingmail USING btree (key varchar_pattern_ops);""",
    # Who may write a table's rows may make its next range of numbers, which PostgreSQL leaves to the owner. Called by name of the table,
    # so that grants.txt stays the one place that says who may. It makes nothing while there is half a range ahead, so nobody fills the
    # catalog with it. A lock that isn't there at once is given up. Locks are taken in the order in which rows are written: first the row,
    # then its line. What `rest` has received stays there: the next range begins beyond it.
    r"""CREATE FUNCTION number_range_make(p_parent regclass) RETURNS void
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    SET lock_timeout TO '300ms'
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
            SELECT substring(pg_get_expr(c.relpartbound, c.oid) FROM 'TO \(''(\d+)''\)') AS bound
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
END $$;""",
    r"""CREATE FUNCTION number_ranges_allowed(p_parent regclass) RETURNS name
    LANGUAGE plpgsql STABLE
    SET search_path TO 'public', 'pg_temp'
    AS $$
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
END $$;""",
    # Who may delete the rows of tables may make and drop their partitions, whatever divides them.
    r"""CREATE FUNCTION partitions_allowed(p_parents regclass[]) RETURNS void
    LANGUAGE plpgsql STABLE
    SET search_path TO 'public', 'pg_temp'
    AS $$
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
END $$;""",
    # PostgreSQL analyzes partitions by itself, but never the table that they are of, by whose figures it joins. Only that is done here:
    # a sample of all partitions, as large for many rows as for few. Anybody may have it done for what wasn't for a week.
    r"""CREATE FUNCTION partitions_analyze() RETURNS void
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    SET lock_timeout TO '300ms'
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
END $$;""",
    # All are locked before it is asked whether something waits, so that nothing can begin to wait after.
    r"""CREATE FUNCTION partitions_drop(p_tables text[], p_suffix text, p_waiting text) RETURNS void
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    SET lock_timeout TO '300ms'
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
END $$;""",
    # Called by the names of tables, so that grants.txt stays the one place that says who may. A lock that isn't there at once is given up:
    # whoever writes waits no longer than that.
    r"""CREATE FUNCTION partitions_make(p_tables text[], p_suffix text, p_from text, p_to text) RETURNS void
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    SET lock_timeout TO '300ms'
    SET "TimeZone" TO 'UTC'
    AS $$
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
END $$;""",
]


class Migration(migrations.Migration):

    replaces = [
        ('core', '0001_squashed_0005_leases'),
        ('core', '0006_drawings_take_turns'),
        ('core', '0007_letters_are_counted'),
        ('core', '0008_sealed_apart'),
        ('core', '0009_set_aside'),
        ('core', '0010_staff_lists'),
        ('core', '0011_heartbeats'),
        ('core', '0012_job_of_paid_amounts'),
        ('core', '0013_days_of_tables'),
        ('core', '0014_one_index_a_beginning'),
        ('core', '0015_steps_of_tables'),
        ('core', '0016_number_ranges'),
        ('core', '0017_only_partitions'),
    ]

    replaced_earlier = [
        ('core', '0001_initial'),
        ('core', '0002_row_failures'),
        ('core', '0003_mail_of_recipient'),
        ('core', '0004_drawings'),
        ('core', '0005_leases'),
    ]

    dependencies = [
    ]

    operations = [
        FirstTables([
            migrations.CreateModel(
                name='Heartbeat',
                fields=[
                    ('part', models.CharField(max_length=40, primary_key=True, serialize=False)),
                    ('at', models.DateTimeField()),
                ],
            ),
            migrations.CreateModel(
                name='RowTurn',
                fields=[
                    ('job', models.CharField(max_length=60, primary_key=True, serialize=False)),
                    ('row_id', models.CharField(db_collation='C', max_length=64)),
                ],
            ),
            migrations.CreateModel(
                name='Drawing',
                fields=[
                    ('digest', models.CharField(db_collation='C', max_length=64, primary_key=True, serialize=False)),
                    ('html', models.TextField(blank=True)),
                    ('inside', models.JSONField(null=True)),
                    ('asked_at', models.DateTimeField()),
                    ('attempts', models.PositiveSmallIntegerField(default=0)),
                    ('claimed_until', models.DateTimeField(null=True)),
                    ('drawn_at', models.DateTimeField(null=True)),
                    ('file_name', models.CharField(blank=True, max_length=200)),
                    ('is_awaited', models.BooleanField(db_default=True, default=True)),
                    ('owner', models.CharField(db_collation='C', db_default='', default='', max_length=40)),
                ],
                options={
                    'indexes': [models.Index(fields=['drawn_at'], name='drawing_age'), models.Index(condition=models.Q(('drawn_at', None)), fields=['is_awaited', 'owner', 'asked_at'], name='drawing_in_turn')],
                    'constraints': [models.CheckConstraint(condition=models.Q(('drawn_at', None), models.Q(('file_name', ''), _negated=True), _connector='OR'), name='drawing_drawn_has_a_file')],
                },
            ),
            migrations.CreateModel(
                name='Lease',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('turn', models.PositiveSmallIntegerField()),
                    ('key', models.CharField(db_collation='C', max_length=100)),
                    ('holder', models.UUIDField(db_index=True)),
                    ('until', models.DateTimeField()),
                ],
                options={
                    'constraints': [models.UniqueConstraint(fields=('turn', 'key'), name='lease_once')],
                },
            ),
            migrations.CreateModel(
                name='OutgoingMail',
                fields=[
                    ('id', models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                    ('key', models.CharField(max_length=200, unique=True)),
                    ('to', models.EmailField(max_length=254)),
                    ('template', models.CharField(max_length=100)),
                    ('sender_name', models.CharField(max_length=200)),
                    ('reply_to', models.CharField(blank=True, max_length=254)),
                    ('sealed_letter', models.TextField(blank=True)),
                    ('status', models.CharField(choices=[('queued', 'Queued'), ('sent', 'Sent'), ('failed', 'Failed'), ('dropped', 'Dropped')], default='queued', max_length=7)),
                    ('attempts', models.PositiveSmallIntegerField(default=0)),
                    ('error', models.CharField(blank=True, max_length=100)),
                    ('created_at', models.DateTimeField()),
                    ('next_attempt_at', models.DateTimeField(null=True)),
                    ('sent_at', models.DateTimeField(null=True)),
                    ('in_name_of', models.UUIDField(editable=False, null=True)),
                    ('mailbox', models.CharField(db_default='', default='', editable=False, max_length=400)),
                ],
                options={
                    'base_manager_name': 'objects',
                    'indexes': [models.Index(condition=models.Q(('status', 'queued')), fields=['next_attempt_at'], name='outgoing_mail_due'), models.Index(fields=['mailbox', 'created_at'], name='outgoing_mail_of_mailbox'), models.Index(condition=models.Q(('status', 'failed')), fields=['created_at'], name='outgoing_mail_failed')],
                },
            ),
            migrations.CreateModel(
                name='RowFailure',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('job', models.CharField(max_length=60)),
                    ('row_id', models.CharField(db_collation='C', max_length=64)),
                    ('tries', models.PositiveIntegerField()),
                    ('error', models.CharField(max_length=300)),
                    ('since', models.DateTimeField()),
                    ('not_before', models.DateTimeField()),
                    ('dead_at', models.DateTimeField(null=True)),
                    ('set_aside_reason', models.CharField(blank=True, db_default='', default='', max_length=500)),
                ],
                options={
                    'constraints': [models.UniqueConstraint(fields=('job', 'row_id'), name='row_failure_once')],
                },
            ),
        ]),
        migrations.RunSQL(SQL),
    ]
