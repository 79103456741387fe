"""Events, their deliveries and failed attempts by months of their ids, which begin with the time. What
there is becomes their first partition, or that for the rest where ids don't say their time: it is read, and
not copied. Processes of the previous release go on by the tables' names.
"""

from django.db import migrations

# What is referred to first, as rows are written.
LOCK = """
LOCK TABLE stores_store, webhooks_endpoint IN SHARE ROW EXCLUSIVE MODE;
LOCK TABLE webhooks_event, webhooks_delivery, webhooks_attempt IN ACCESS EXCLUSIVE MODE;
"""
# All that is of a table goes with its name, but for the reference of deliveries to events, which stays
# between the partitions. The key of attempts has their delivery's, by which they are divided.
DIVIDE = """
DO $$
DECLARE
    c_tables CONSTANT text[] := ARRAY['webhooks_event', 'webhooks_delivery', 'webhooks_attempt'];
    c_bounds CONSTANT uuid[] := ARRAY(SELECT (lpad(to_hex((extract(epoch FROM (date_trunc('month',
            now() AT TIME ZONE 'UTC') + n * interval '1 month') AT TIME ZONE 'UTC') * 1000)::bigint),
            12, '0') || '70008000000000000000')::uuid FROM generate_series(0, 2) n ORDER BY n);
    v_end CONSTANT uuid := c_bounds[2];
    v_is_empty CONSTANT boolean := NOT EXISTS (SELECT 1 FROM webhooks_event)
        AND NOT EXISTS (SELECT 1 FROM webhooks_attempt);
    v_is_first CONSTANT boolean := NOT v_is_empty
        AND NOT EXISTS (SELECT 1 FROM webhooks_event WHERE id >= v_end)
        AND NOT EXISTS (SELECT 1 FROM webhooks_delivery WHERE id >= v_end)
        AND NOT EXISTS (SELECT 1 FROM webhooks_attempt WHERE delivery_id >= v_end);
    v_place CONSTANT text := CASE WHEN v_is_first THEN '_first' ELSE '_rest' END;
    v_table text;
    v_key text;
    v_number bigint := coalesce(
        pg_sequence_last_value(pg_get_serial_sequence('webhooks_attempt', 'id')) + 1, 1);
    v_made text[];
    v record;
BEGIN
    FOREACH v_table IN ARRAY c_tables LOOP
        v_key := CASE v_table WHEN 'webhooks_attempt' THEN 'delivery_id' ELSE 'id' END;
        SELECT array_agg(text) INTO v_made FROM (
            SELECT pg_get_indexdef(indexrelid) AS text FROM pg_index
                WHERE indrelid = v_table::regclass AND NOT indisprimary
            UNION ALL SELECT format('ALTER TABLE %I ADD CONSTRAINT %I %s', v_table, conname,
                pg_get_constraintdef(oid)) FROM pg_constraint
                WHERE conrelid = v_table::regclass AND contype = 'f'
                    AND confrelid IS DISTINCT FROM to_regclass('webhooks_event' || v_place)
            UNION ALL SELECT pg_get_triggerdef(oid) FROM pg_trigger
                WHERE tgrelid = v_table::regclass AND NOT tgisinternal
            UNION ALL SELECT format('GRANT %s ON %I TO %s', privilege_type, v_table,
                grantee::regrole) FROM pg_class c, aclexplode(c.relacl)
                WHERE c.oid = v_table::regclass AND grantee <> relowner
            UNION ALL SELECT format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', v_table)
                FROM pg_class WHERE oid = v_table::regclass AND relrowsecurity
            UNION ALL SELECT format('CREATE POLICY %I ON %I AS %s FOR %s TO %s', polname, v_table,
                CASE WHEN polpermissive THEN 'PERMISSIVE' ELSE 'RESTRICTIVE' END,
                CASE polcmd WHEN 'r' THEN 'SELECT' WHEN 'a' THEN 'INSERT' WHEN 'w' THEN 'UPDATE'
                    WHEN 'd' THEN 'DELETE' ELSE 'ALL' END,
                (SELECT string_agg(one::regrole::text, ', ') FROM unnest(polroles) one))
                || coalesce(' USING (' || pg_get_expr(polqual, polrelid) || ')', '')
                || coalesce(' WITH CHECK (' || pg_get_expr(polwithcheck, polrelid) || ')', '')
                FROM pg_policy WHERE polrelid = v_table::regclass
        ) made;
        FOR v IN SELECT format('DROP TRIGGER %I ON %I', tgname, v_table) AS text FROM pg_trigger
                WHERE tgrelid = v_table::regclass AND NOT tgisinternal
            UNION ALL SELECT format('DROP POLICY %I ON %I', polname, v_table) FROM pg_policy
                WHERE polrelid = v_table::regclass
            UNION ALL SELECT format('REVOKE ALL ON %I FROM %s', v_table, grantee::regrole)
                FROM pg_class c, aclexplode(c.relacl)
                WHERE c.oid = v_table::regclass AND grantee <> relowner
            UNION ALL SELECT format('ALTER INDEX %I RENAME TO %I', c.relname,
                left(c.relname, 57) || v_place) FROM pg_index i JOIN pg_class c
                ON c.oid = i.indexrelid WHERE i.indrelid = v_table::regclass LOOP
            EXECUTE v.text;
        END LOOP;
        EXECUTE format('ALTER TABLE %I DISABLE ROW LEVEL SECURITY', v_table);
        EXECUTE format('ALTER TABLE %I RENAME TO %I', v_table, v_table || v_place);
        IF v_table = 'webhooks_attempt' THEN
            EXECUTE format('ALTER TABLE %1$I ALTER id DROP IDENTITY, DROP CONSTRAINT %2$I,'
                ' ADD CONSTRAINT %2$I PRIMARY KEY (id, delivery_id)', v_table || v_place,
                'webhooks_attempt_pkey' || v_place);
        END IF;
        EXECUTE format('CREATE TABLE %I (LIKE %I INCLUDING DEFAULTS INCLUDING CONSTRAINTS'
            ' INCLUDING STORAGE) PARTITION BY RANGE (%I)', v_table, v_table || v_place, v_key);
        EXECUTE format('ALTER TABLE %I ADD CONSTRAINT %I PRIMARY KEY (%s)', v_table,
            v_table || '_pkey', CASE v_key WHEN 'id' THEN 'id' ELSE 'id, delivery_id' END);
        FOREACH v_key IN ARRAY v_made LOOP
            EXECUTE v_key;
        END LOOP;
        EXECUTE format('ALTER TABLE %I ATTACH PARTITION %I %s', v_table, v_table || v_place,
            CASE WHEN v_is_first THEN format('FOR VALUES FROM (MINVALUE) TO (%L)', v_end)
                ELSE 'DEFAULT' END);
        IF v_is_first THEN
            EXECUTE format('CREATE TABLE %I PARTITION OF %I DEFAULT', v_table || '_rest', v_table);
        END IF;
    END LOOP;
    EXECUTE format('ALTER TABLE webhooks_attempt ALTER id ADD GENERATED BY DEFAULT AS IDENTITY'
        ' (START WITH %s)', v_number);
    FOR v IN SELECT conname, pg_get_constraintdef(oid) AS text FROM pg_constraint
        WHERE v_is_first AND conrelid = to_regclass('webhooks_delivery_first')
            AND confrelid = to_regclass('webhooks_event_first') LOOP
        EXECUTE format('ALTER TABLE webhooks_delivery_rest ADD CONSTRAINT %I %s', v.conname,
            replace(v.text, '_first(', '_rest('));
    END LOOP;
    FOR v_month IN 1..2 LOOP
        EXIT WHEN NOT v_is_empty;
        PERFORM partitions_make(c_tables, to_char(now() AT TIME ZONE 'UTC'
            + (v_month - 1) * interval '1 month', 'YYYYMM'), c_bounds[v_month]::text,
            c_bounds[v_month + 1]::text);
    END LOOP;
END $$;
"""
# Rows of months go to the rest, which becomes the table again; or to the first, which has more.
UNITE = """
DO $$
DECLARE
    c_tables CONSTANT text[] := ARRAY['webhooks_event', 'webhooks_delivery', 'webhooks_attempt'];
    v_place CONSTANT text := CASE WHEN to_regclass('webhooks_event_first') IS NULL THEN '_rest'
        ELSE '_first' END;
    v_number bigint := coalesce(
        pg_sequence_last_value(pg_get_serial_sequence('webhooks_attempt', 'id')) + 1, 1);
    v_made text[];
    v_table text;
    v record;
BEGIN
    SELECT array_agg(text) INTO v_made FROM (
        SELECT pg_get_triggerdef(t.oid) AS text FROM unnest(c_tables) name
            JOIN pg_trigger t ON t.tgrelid = name::regclass WHERE NOT tgisinternal
        UNION ALL SELECT format('GRANT %s ON %I TO %s', privilege_type, name, grantee::regrole)
            FROM unnest(c_tables) name JOIN pg_class c ON c.oid = name::regclass,
                aclexplode(c.relacl) WHERE grantee <> relowner
    ) made;
    FOREACH v_table IN ARRAY c_tables LOOP
        EXECUTE format('ALTER TABLE %I DETACH PARTITION %I', v_table, v_table || v_place);
    END LOOP;
    FOREACH v_table IN ARRAY c_tables LOOP
        EXECUTE format('INSERT INTO %I SELECT * FROM %I', v_table || v_place, v_table);
    END LOOP;
    SET CONSTRAINTS ALL IMMEDIATE;
    DROP TABLE webhooks_attempt, webhooks_delivery, webhooks_event;
    FOREACH v_table IN ARRAY c_tables LOOP
        EXECUTE format('ALTER TABLE %I RENAME TO %I', v_table || v_place, v_table);
        FOR v IN SELECT c.relname FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid
            WHERE i.indrelid = v_table::regclass LOOP
            EXECUTE format('ALTER INDEX %I RENAME TO %I', v.relname,
                regexp_replace(v.relname, v_place || '$', ''));
        END LOOP;
    END LOOP;
    ALTER TABLE webhooks_attempt DROP CONSTRAINT webhooks_attempt_pkey, ADD PRIMARY KEY (id);
    EXECUTE format('ALTER TABLE webhooks_attempt ALTER id ADD GENERATED BY DEFAULT AS IDENTITY'
        ' (START WITH %s)', v_number);
    FOREACH v_table IN ARRAY v_made LOOP
        EXECUTE v_table;
    END LOOP;
END $$;
"""


class Migration(migrations.Migration):
    dependencies = [
        ('core', '0002_partitions_refer'),
        ('webhooks', '0001_squashed_0015_queue_of_before'),
    ]

    operations = [
        migrations.RunSQL("SET LOCAL lock_timeout = '5s'", migrations.RunSQL.noop),
        migrations.RunSQL(LOCK + DIVIDE, LOCK + UNITE),
    ]
