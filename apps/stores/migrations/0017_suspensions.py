"""Staff suspend a store's new payments, payouts and sign-ins. Triggers of other tables ask the
function, which waits for whoever is suspending payouts at that moment.
"""

from django.db import migrations, models

FORWARD = """
CREATE FUNCTION stores_refuse_suspended() RETURNS trigger
LANGUAGE plpgsql SET search_path = public, pg_temp AS $$
DECLARE
    v_platform_id uuid := (SELECT platform_id FROM stores_store WHERE id = NEW.store_id);
BEGIN
    IF TG_ARGV[0] = 'payouts' THEN
        PERFORM FROM stores_store WHERE id IN (NEW.store_id, v_platform_id) ORDER BY id FOR SHARE;
    END IF;
    PERFORM FROM stores_store WHERE id IN (NEW.store_id, v_platform_id)
        AND CASE TG_ARGV[0] WHEN 'payouts' THEN payouts_suspended_at ELSE payments_suspended_at END IS NOT NULL;
    IF FOUND THEN
        RAISE EXCEPTION 'the % of store % are suspended', TG_ARGV[0], NEW.store_id
            USING ERRCODE = 'check_violation', CONSTRAINT = 'store_' || TG_ARGV[0] || '_suspended';
    END IF;
    RETURN NEW;
END $$;
"""


class Migration(migrations.Migration):
    dependencies = [("stores", "0016_cashiers")]

    operations = [
        migrations.RunSQL("SET LOCAL lock_timeout = '5s'", migrations.RunSQL.noop),
        *(
            migrations.AddField(
                model_name="store", name=name, field=models.DateTimeField(blank=True, null=True)
            )
            for name in ("payments_suspended_at", "payouts_suspended_at", "sign_ins_suspended_at")
        ),
        migrations.RunSQL(FORWARD, "DROP FUNCTION stores_refuse_suspended"),
    ]
