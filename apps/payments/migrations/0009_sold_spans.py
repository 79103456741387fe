"""Sales of platforms' merchants in months and in the newest thirty days, and platforms as a whole: written
by a trigger of the sums by day, so that processes of the previous release write it as well. What there is
is added up under the trigger's own lock, for which the job that writes those sums waits, and nobody else."""

import django.db.models.deletion
from django.db import migrations, models

# They name what they use in full, so that they need no search path of their own. Keys are written in
# their order, so that two who write wait for each other and don't lock each other out.
KEEP = """
CREATE FUNCTION payments_keep_sold() RETURNS trigger LANGUAGE plpgsql
SECURITY DEFINER AS $$
DECLARE
    v_added public.payments_soldsum[] := '{}';
    v_taken public.payments_soldsum[] := '{}';
    v_last date;
BEGIN
    IF TG_OP <> 'DELETE' THEN
        v_added := ARRAY(SELECT a FROM added a);
    END IF;
    IF TG_OP <> 'INSERT' THEN
        v_taken := ARRAY(SELECT t FROM taken t);
    END IF;
    SELECT t.row_id::date INTO v_last FROM public.core_rowturn t
        WHERE t.job = 'payments.sum_hours:recent' FOR SHARE;
    WITH change AS (
        SELECT platform_id, mode, day, store_id, currency, payments, cents FROM unnest(v_added)
        UNION ALL
        SELECT platform_id, mode, day, store_id, currency, -payments, -cents FROM unnest(v_taken)
    ), spans AS (
        INSERT INTO public.payments_soldspan AS known (platform_id, mode, span, store_id, currency,
            payments, cents)
        SELECT c.platform_id, c.mode, s.span, c.store_id, c.currency, sum(c.payments), sum(c.cents)
        FROM change c CROSS JOIN LATERAL (
            SELECT to_char(c.day::timestamp, 'YYYY-MM') AS span
            UNION ALL SELECT 'recent' WHERE c.day <= v_last AND c.day > v_last - 30
        ) s GROUP BY 1, 2, 3, 4, 5 HAVING (sum(c.payments), sum(c.cents)) <> (0, 0)
        ORDER BY 1, 2, 3, 4, 5
        ON CONFLICT (platform_id, mode, span, store_id, currency) DO UPDATE SET
            payments = known.payments + excluded.payments, cents = known.cents + excluded.cents
    )
    INSERT INTO public.payments_platformsum AS known (platform_id, mode, day, currency, payments,
        cents)
    SELECT platform_id, mode, day, currency, sum(payments), sum(cents)
    FROM change GROUP BY 1, 2, 3, 4 HAVING (sum(payments), sum(cents)) <> (0, 0)
    ORDER BY 1, 2, 3, 4
    ON CONFLICT (platform_id, mode, day, currency) DO UPDATE SET
        payments = known.payments + excluded.payments, cents = known.cents + excluded.cents;
    IF v_taken <> '{}' THEN
        DELETE FROM public.payments_soldspan s
        USING (SELECT DISTINCT platform_id, mode, day, store_id, currency FROM unnest(v_taken)) t
        WHERE s.platform_id = t.platform_id AND s.mode = t.mode AND s.store_id = t.store_id
            AND s.span IN ('recent', to_char(t.day::timestamp, 'YYYY-MM'))
            AND s.currency = t.currency AND s.payments = 0 AND s.cents = 0;
        DELETE FROM public.payments_platformsum s
        USING (SELECT DISTINCT platform_id, mode, day, currency FROM unnest(v_taken)) t
        WHERE s.platform_id = t.platform_id AND s.mode = t.mode AND s.day = t.day
            AND s.currency = t.currency AND s.payments = 0 AND s.cents = 0;
    END IF;
    RETURN NULL;
END $$;
CREATE TRIGGER sold_added AFTER INSERT ON payments_soldsum REFERENCING NEW TABLE AS added
    FOR EACH STATEMENT EXECUTE FUNCTION payments_keep_sold();
CREATE TRIGGER sold_changed AFTER UPDATE ON payments_soldsum
    REFERENCING OLD TABLE AS taken NEW TABLE AS added
    FOR EACH STATEMENT EXECUTE FUNCTION payments_keep_sold();
CREATE TRIGGER sold_taken AFTER DELETE ON payments_soldsum REFERENCING OLD TABLE AS taken
    FOR EACH STATEMENT EXECUTE FUNCTION payments_keep_sold();
"""
NOT_KEPT = """
DROP TRIGGER sold_added ON payments_soldsum;
DROP TRIGGER sold_changed ON payments_soldsum;
DROP TRIGGER sold_taken ON payments_soldsum;
DROP FUNCTION payments_keep_sold;
DELETE FROM core_rowturn WHERE job = 'payments.sum_hours:recent'
"""
TURN = """
INSERT INTO core_rowturn (job, row_id)
VALUES ('payments.sum_hours:recent', (now() AT TIME ZONE 'UTC')::date::text)
"""
FILL = """
WITH turn AS (
    SELECT row_id::date AS last FROM core_rowturn WHERE job = 'payments.sum_hours:recent'
), spans AS (
    INSERT INTO payments_soldspan (platform_id, mode, span, store_id, currency, payments, cents)
    SELECT s.platform_id, s.mode, n.span, s.store_id, s.currency, sum(s.payments), sum(s.cents)
    FROM payments_soldsum s CROSS JOIN turn CROSS JOIN LATERAL (
        SELECT to_char(s.day::timestamp, 'YYYY-MM') AS span
        UNION ALL SELECT 'recent' WHERE s.day <= turn.last AND s.day > turn.last - 30
    ) n GROUP BY 1, 2, 3, 4, 5
)
INSERT INTO payments_platformsum (platform_id, mode, day, currency, payments, cents)
SELECT platform_id, mode, day, currency, sum(payments), sum(cents)
FROM payments_soldsum GROUP BY 1, 2, 3, 4
"""


def store():
    return models.ForeignKey(db_constraint=False, db_index=False, on_delete=django.db.models.deletion.DO_NOTHING, related_name='+', to='stores.store')


class Migration(migrations.Migration):
    dependencies = [
        ('core', '0002_partitions_refer'),
        ('payments', '0008_found_by_staff'),
    ]

    operations = [
        migrations.RunSQL("SET LOCAL lock_timeout = '5s'", migrations.RunSQL.noop),
        migrations.CreateModel(
            name='SoldSpan',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('platform', store()),
                ('mode', models.CharField(max_length=4)),
                ('span', models.CharField(db_collation='C', max_length=7)),
                ('store', store()),
                ('currency', models.CharField(max_length=3)),
                ('payments', models.BigIntegerField()),
                ('cents', models.BigIntegerField()),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('platform', 'mode', 'span', 'store', 'currency'), name='sold_span_once')],
                'indexes': [models.Index(fields=['platform', 'mode', 'span', 'currency', '-cents', 'store'], name='sold_span_by_cents')],
            },
        ),
        migrations.CreateModel(
            name='PlatformSum',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('platform', store()),
                ('mode', models.CharField(max_length=4)),
                ('day', models.DateField()),
                ('currency', models.CharField(max_length=3)),
                ('payments', models.BigIntegerField()),
                ('cents', models.BigIntegerField()),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('platform', 'mode', 'day', 'currency'), include=('payments', 'cents'), name='platform_sum_once')],
            },
        ),
        migrations.RunSQL(KEEP, NOT_KEPT),
        migrations.RunSQL(TURN, migrations.RunSQL.noop),
        migrations.RunSQL(FILL, migrations.RunSQL.noop),
    ]
