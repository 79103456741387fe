"""A held share of test mode goes with its store's records to their archive, as it is.
"""

from django.db import migrations

FORWARD = """
CREATE OR REPLACE FUNCTION payments_guard_held_refund()
 RETURNS trigger
 LANGUAGE plpgsql
 SET search_path TO 'public', 'pg_temp'
AS $function$
BEGIN
    IF NEW.store_id <> OLD.store_id AND stores_is_put_away(OLD.store_id, NEW.store_id, NEW.mode)
       AND to_jsonb(NEW) - 'store_id' = to_jsonb(OLD) - 'store_id' THEN
        RETURN NEW;
    END IF;
    IF (OLD.payment_id, OLD.asset_id, OLD.payer_address, OLD.store_id, OLD.mode)
        IS DISTINCT FROM (NEW.payment_id, NEW.asset_id, NEW.payer_address, NEW.store_id, NEW.mode)
    OR EXISTS (SELECT 1 FROM public.payments_refund r WHERE r.held_id = OLD.id
        AND r.status <> 'failed') THEN
        RAISE EXCEPTION 'a share that has a refund is not changed, and none becomes another one'
            USING ERRCODE = 'check_violation', CONSTRAINT = 'held_refund_is_kept';
    END IF;
    RETURN NEW;
END $function$;
"""


class Migration(migrations.Migration):
    dependencies = [("payments", "0027_own_wallets"), ("stores", "0019_test_data_put_away")]

    operations = [
        migrations.RunSQL("SET LOCAL lock_timeout = '5s'", migrations.RunSQL.noop),
        migrations.RunSQL(FORWARD, migrations.RunSQL.noop),
    ]
