"""How many merchants a platform has: counted by triggers on stores and verifications, so that processes of
the previous release count them as well. Those there are are counted under the triggers' own lock, for which
whoever changes a store waits about a second for a hundred thousand."""

import django.db.models.deletion
from django.db import migrations, models

# They name what they use in full, so that they need no search path of their own. A store's own row is
# locked first: whoever changes it or its verification at the same time counts what both have left. Only the
# triggers may call them: they write for whom they are called.
COUNT = """
CREATE FUNCTION stores_add_merchants(p_platform_id uuid, p_by int, p_activated boolean,
    p_verified boolean, p_pending boolean) RETURNS void LANGUAGE sql SECURITY DEFINER AS $$
    WITH gone AS (
        DELETE FROM public.stores_merchantcount WHERE id IN (
            SELECT id FROM public.stores_merchantcount WHERE store_id = p_platform_id
            FOR UPDATE SKIP LOCKED
        ) RETURNING accounts, activated, verified, pending
    )
    INSERT INTO public.stores_merchantcount (store_id, accounts, activated, verified, pending)
    SELECT p_platform_id, coalesce(sum(accounts), 0) + p_by,
        coalesce(sum(activated), 0) + p_by * p_activated::int,
        coalesce(sum(verified), 0) + p_by * p_verified::int,
        coalesce(sum(pending), 0) + p_by * p_pending::int
    FROM gone
$$;
CREATE FUNCTION stores_count_merchant(p_store_id uuid) RETURNS void LANGUAGE plpgsql
SECURITY DEFINER AS $$
DECLARE
    v_before public.stores_countedmerchant;
    v_now public.stores_countedmerchant;
BEGIN
    INSERT INTO public.stores_countedmerchant (store_id, is_activated, is_verified, is_pending)
        VALUES (p_store_id, false, false, false) ON CONFLICT DO NOTHING;
    SELECT * INTO v_before FROM public.stores_countedmerchant WHERE store_id = p_store_id
        FOR UPDATE;
    v_now := v_before;
    v_now.platform_id := NULL;
    SELECT s.platform_id, s.kyc_confirmed_at IS NOT NULL,
        EXISTS (SELECT FROM public.stores_verification v
            WHERE v.store_id = s.id AND v.status = 'approved'),
        s.kyc_confirmed_at IS NULL AND EXISTS (SELECT FROM public.stores_verification v
            WHERE v.store_id = s.id AND v.status = 'pending')
    INTO v_now.platform_id, v_now.is_activated, v_now.is_verified, v_now.is_pending
    FROM public.stores_store s WHERE s.id = p_store_id AND s.deleted_at IS NULL;
    IF v_now IS NOT DISTINCT FROM v_before THEN
        RETURN;
    END IF;
    UPDATE public.stores_countedmerchant SET platform_id = v_now.platform_id,
        is_activated = coalesce(v_now.is_activated, false),
        is_verified = coalesce(v_now.is_verified, false),
        is_pending = coalesce(v_now.is_pending, false) WHERE store_id = p_store_id;
    IF v_before.platform_id IS NOT NULL THEN
        PERFORM public.stores_add_merchants(v_before.platform_id, -1, v_before.is_activated,
            v_before.is_verified, v_before.is_pending);
    END IF;
    IF v_now.platform_id IS NOT NULL THEN
        PERFORM public.stores_add_merchants(v_now.platform_id, 1, v_now.is_activated,
            v_now.is_verified, v_now.is_pending);
    END IF;
END $$;
CREATE FUNCTION stores_count_store() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS $$
BEGIN
    PERFORM public.stores_count_merchant(CASE TG_OP WHEN 'DELETE' THEN OLD.id ELSE NEW.id END);
    IF TG_OP = 'DELETE' THEN
        DELETE FROM public.stores_countedmerchant WHERE store_id = OLD.id;
    END IF;
    RETURN NULL;
END $$;
CREATE FUNCTION stores_count_verification() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS $$
DECLARE
    v_store_id uuid := CASE TG_OP WHEN 'DELETE' THEN OLD.store_id ELSE NEW.store_id END;
BEGIN
    IF EXISTS (SELECT FROM public.stores_store
            WHERE id = v_store_id AND platform_id IS NOT NULL) THEN
        PERFORM public.stores_count_merchant(v_store_id);
    END IF;
    RETURN NULL;
END $$;
REVOKE EXECUTE ON FUNCTION stores_add_merchants, stores_count_merchant FROM PUBLIC
"""
TRIGGERS = """
CREATE TRIGGER merchant_added AFTER INSERT ON stores_store FOR EACH ROW
    WHEN (NEW.platform_id IS NOT NULL) EXECUTE FUNCTION stores_count_store();
CREATE TRIGGER merchant_changed AFTER UPDATE ON stores_store FOR EACH ROW
    WHEN ((OLD.platform_id IS NOT NULL OR NEW.platform_id IS NOT NULL)
        AND (OLD.platform_id, OLD.deleted_at IS NULL, OLD.kyc_confirmed_at IS NULL)
        IS DISTINCT FROM (NEW.platform_id, NEW.deleted_at IS NULL, NEW.kyc_confirmed_at IS NULL))
    EXECUTE FUNCTION stores_count_store();
CREATE TRIGGER merchant_removed AFTER DELETE ON stores_store FOR EACH ROW
    WHEN (OLD.platform_id IS NOT NULL) EXECUTE FUNCTION stores_count_store();
CREATE TRIGGER verification_counted AFTER INSERT OR DELETE ON stores_verification FOR EACH ROW
    EXECUTE FUNCTION stores_count_verification();
CREATE TRIGGER verification_changed AFTER UPDATE ON stores_verification FOR EACH ROW
    WHEN (OLD.status IS DISTINCT FROM NEW.status) EXECUTE FUNCTION stores_count_verification()
"""
NOT_COUNTED = """
DROP TRIGGER merchant_added ON stores_store;
DROP TRIGGER merchant_changed ON stores_store;
DROP TRIGGER merchant_removed ON stores_store;
DROP TRIGGER verification_counted ON stores_verification;
DROP TRIGGER verification_changed ON stores_verification;
DROP FUNCTION stores_count_verification, stores_count_store, stores_count_merchant,
    stores_add_merchants
"""
FILL = """
WITH counted AS (
    INSERT INTO stores_countedmerchant (store_id, platform_id, is_activated, is_verified,
        is_pending)
    SELECT s.id, s.platform_id, s.kyc_confirmed_at IS NOT NULL,
        EXISTS (SELECT FROM stores_verification v
            WHERE v.store_id = s.id AND v.status = 'approved'),
        s.kyc_confirmed_at IS NULL AND EXISTS (SELECT FROM stores_verification v
            WHERE v.store_id = s.id AND v.status = 'pending')
    FROM stores_store s WHERE s.platform_id IS NOT NULL AND s.deleted_at IS NULL
    RETURNING platform_id, is_activated, is_verified, is_pending
)
INSERT INTO stores_merchantcount (store_id, accounts, activated, verified, pending)
SELECT platform_id, count(*), count(*) FILTER (WHERE is_activated),
    count(*) FILTER (WHERE is_verified), count(*) FILTER (WHERE is_pending)
FROM counted GROUP BY 1
"""


class Migration(migrations.Migration):
    dependencies = [
        ('stores', '0003_due'),
    ]

    operations = [
        migrations.RunSQL("SET LOCAL lock_timeout = '5s'", migrations.RunSQL.noop),
        migrations.CreateModel(
            name='CountedMerchant',
            fields=[
                ('store', models.OneToOneField(db_constraint=False, on_delete=django.db.models.deletion.DO_NOTHING, primary_key=True, related_name='+', serialize=False, to='stores.store')),
                ('platform_id', models.UUIDField(null=True)),
                ('is_activated', models.BooleanField(default=False)),
                ('is_verified', models.BooleanField(default=False)),
                ('is_pending', models.BooleanField(default=False)),
            ],
        ),
        migrations.CreateModel(
            name='MerchantCount',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('accounts', models.IntegerField()),
                ('activated', models.IntegerField()),
                ('verified', models.IntegerField()),
                ('pending', models.IntegerField()),
                ('store', models.ForeignKey(db_constraint=False, on_delete=django.db.models.deletion.DO_NOTHING, related_name='+', to='stores.store')),
            ],
        ),
        migrations.RunSQL(COUNT, migrations.RunSQL.noop),
        migrations.RunSQL(TRIGGERS, NOT_COUNTED),
        migrations.RunSQL(FILL, migrations.RunSQL.noop),
    ]
