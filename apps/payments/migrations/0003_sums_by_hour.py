"""Sums of payments by hour, and their changes since: written by the database, so that processes of
the previous release write them as well. The next migration adds up what there is."""

import django.db.models.deletion
from django.db import migrations, models

# They name what they use in full, so that they need no search path of their own.
KEEP = """
CREATE FUNCTION payments_keep_change() RETURNS trigger LANGUAGE plpgsql
SECURITY DEFINER AS $$
DECLARE
    v_net bigint;
BEGIN
    IF TG_OP <> 'INSERT' AND OLD.completed_at IS NOT NULL THEN
        SELECT n.net_cents INTO v_net FROM public.payments_paymentnet n WHERE n.payment_id = OLD.id;
    END IF;
    IF TG_OP <> 'INSERT' THEN
        INSERT INTO public.payments_paymentchange (store_id, mode, platform_id, hour, sold_on,
            currency, status, payments, completed, completed_cents, nets, net_cents)
        VALUES (OLD.store_id, OLD.mode, OLD.platform_id, date_trunc('hour', OLD.created_at, 'UTC'),
            (OLD.completed_at AT TIME ZONE 'UTC')::date, OLD.settlement_currency, OLD.status, -1,
            -(OLD.completed_at IS NOT NULL)::int,
            CASE WHEN OLD.completed_at IS NULL THEN 0 ELSE -OLD.settlement_amount_cents END,
            -(v_net IS NOT NULL)::int, -coalesce(v_net, 0));
    END IF;
    IF TG_OP <> 'DELETE' THEN
        INSERT INTO public.payments_paymentchange (store_id, mode, platform_id, hour, sold_on,
            currency, status, payments, completed, completed_cents, nets, net_cents)
        VALUES (NEW.store_id, NEW.mode, NEW.platform_id, date_trunc('hour', NEW.created_at, 'UTC'),
            (NEW.completed_at AT TIME ZONE 'UTC')::date, NEW.settlement_currency, NEW.status, 1,
            (NEW.completed_at IS NOT NULL)::int,
            CASE WHEN NEW.completed_at IS NULL THEN 0 ELSE NEW.settlement_amount_cents END,
            (v_net IS NOT NULL)::int, coalesce(v_net, 0));
    END IF;
    RETURN NULL;
END $$;
CREATE FUNCTION payments_keep_net_change() RETURNS trigger LANGUAGE plpgsql
SECURITY DEFINER AS $$
DECLARE
    v_payment_id uuid := CASE TG_OP WHEN 'DELETE' THEN OLD.payment_id ELSE NEW.payment_id END;
    v_nets int := CASE TG_OP WHEN 'INSERT' THEN 1 WHEN 'DELETE' THEN -1 ELSE 0 END;
    v_cents bigint := CASE TG_OP WHEN 'DELETE' THEN 0 ELSE NEW.net_cents END
        - CASE TG_OP WHEN 'INSERT' THEN 0 ELSE OLD.net_cents END;
BEGIN
    INSERT INTO public.payments_paymentchange (store_id, mode, platform_id, hour, currency, status,
        payments, completed, completed_cents, nets, net_cents)
    SELECT p.store_id, p.mode, p.platform_id, date_trunc('hour', p.created_at, 'UTC'),
        p.settlement_currency, p.status, 0, 0, 0, v_nets, v_cents
    FROM public.payments_payment p WHERE p.id = v_payment_id;
    RETURN NULL;
END $$
"""
TRIGGERS = """
CREATE TRIGGER change_of_new AFTER INSERT OR DELETE ON payments_payment FOR EACH ROW
    EXECUTE FUNCTION payments_keep_change();
CREATE TRIGGER change_kept AFTER UPDATE ON payments_payment FOR EACH ROW
    WHEN ((OLD.status, OLD.completed_at, OLD.settlement_currency, OLD.settlement_amount_cents,
            OLD.store_id, OLD.mode, OLD.platform_id, OLD.created_at)
        IS DISTINCT FROM
        (NEW.status, NEW.completed_at, NEW.settlement_currency, NEW.settlement_amount_cents,
            NEW.store_id, NEW.mode, NEW.platform_id, NEW.created_at))
    EXECUTE FUNCTION payments_keep_change();
CREATE TRIGGER net_change_of_new AFTER INSERT OR DELETE ON payments_paymentnet FOR EACH ROW
    EXECUTE FUNCTION payments_keep_net_change();
CREATE TRIGGER net_change_kept AFTER UPDATE ON payments_paymentnet FOR EACH ROW
    WHEN (OLD.net_cents <> NEW.net_cents) EXECUTE FUNCTION payments_keep_net_change();
"""
NO_TRIGGERS = """
DROP TRIGGER change_of_new ON payments_payment;
DROP TRIGGER change_kept ON payments_payment;
DROP TRIGGER net_change_of_new ON payments_paymentnet;
DROP TRIGGER net_change_kept ON payments_paymentnet;
DROP FUNCTION payments_keep_change, payments_keep_net_change;
"""


def store(**options):
    return models.ForeignKey(db_constraint=False, db_index=False, on_delete=django.db.models.deletion.DO_NOTHING, related_name='+', to='stores.store', **options)


class Migration(migrations.Migration):
    dependencies = [
        ('payments', '0002_refunds_by_address'),
        ('stores', '0001_squashed_0028_one_index_a_beginning'),
    ]

    operations = [
        migrations.RunSQL("SET LOCAL lock_timeout = '5s'", migrations.RunSQL.noop),
        migrations.CreateModel(
            name='PaymentChange',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('store', store()),
                ('mode', models.CharField(max_length=4)),
                ('platform', store(null=True)),
                ('hour', models.DateTimeField()),
                ('sold_on', models.DateField(null=True)),
                ('currency', models.CharField(max_length=3)),
                ('status', models.CharField(max_length=10)),
                ('payments', models.SmallIntegerField()),
                ('completed', models.SmallIntegerField()),
                ('completed_cents', models.BigIntegerField()),
                ('nets', models.SmallIntegerField()),
                ('net_cents', models.BigIntegerField()),
            ],
            options={
                'indexes': [
                    models.Index(fields=['store', 'mode'], name='payment_change_of_store'),
                    models.Index(condition=models.Q(('platform__isnull', False), ('sold_on__isnull', False)), fields=['platform', 'mode'], name='payment_change_of_platform'),
                ],
            },
        ),
        migrations.CreateModel(
            name='HourlySum',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('store', store()),
                ('mode', models.CharField(max_length=4)),
                ('hour', models.DateTimeField()),
                ('currency', models.CharField(max_length=3)),
                ('status', models.CharField(max_length=10)),
                ('payments', models.BigIntegerField()),
                ('completed', models.BigIntegerField()),
                ('completed_cents', models.BigIntegerField()),
                ('nets', models.BigIntegerField()),
                ('net_cents', models.BigIntegerField()),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('store', 'mode', 'hour', 'currency', 'status'), include=('payments', 'completed', 'completed_cents', 'nets', 'net_cents'), name='hourly_sum_once')],
            },
        ),
        migrations.CreateModel(
            name='SoldSum',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('platform', store()),
                ('mode', models.CharField(max_length=4)),
                ('day', models.DateField()),
                ('store', store()),
                ('currency', models.CharField(max_length=3)),
                ('payments', models.BigIntegerField()),
                ('cents', models.BigIntegerField()),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('platform', 'mode', 'day', 'store', 'currency'), include=('payments', 'cents'), name='sold_sum_once')],
            },
        ),
        migrations.RunSQL(KEEP, migrations.RunSQL.noop),
        migrations.RunSQL(TRIGGERS, NO_TRIGGERS),
    ]
