"""Payouts and approvals of test mode go with their store's records to their archive, as they are.
"""

from django.db import migrations

FORWARD = """
CREATE OR REPLACE FUNCTION payouts_check_approval()
 RETURNS trigger
 LANGUAGE plpgsql
 SET search_path TO 'public', 'pg_temp'
AS $function$
DECLARE
    above bigint;
    held payouts_payoutapproval;
BEGIN
    IF TG_OP = 'UPDATE' AND NEW.store_id <> OLD.store_id AND stores_is_put_away(OLD.store_id, NEW.store_id, NEW.mode)
       AND to_jsonb(NEW) - 'store_id' = to_jsonb(OLD) - 'store_id' THEN
        RETURN NEW;
    END IF;
    IF TG_OP = 'UPDATE' AND (NEW.approval_id, NEW.store_id, NEW.mode, NEW.asset_id, NEW.amount_atomic, NEW.destination_id,
                             NEW.destination_address, NEW.schedule_id)
       IS DISTINCT FROM (OLD.approval_id, OLD.store_id, OLD.mode, OLD.asset_id, OLD.amount_atomic, OLD.destination_id,
                         OLD.destination_address, OLD.schedule_id) THEN
        RAISE EXCEPTION 'payout % is approved as it was asked for, or not at all', NEW.id USING ERRCODE = '23001';
    END IF;
    IF NEW.approval_id IS NULL THEN
        SELECT CASE WHEN next_from <= NEW.created_at THEN next_above_cents ELSE above_cents END INTO above
        FROM payouts_approvalrule WHERE store_id = NEW.store_id AND mode = NEW.mode;
        IF above IS NOT NULL AND (NEW.worth_cents IS NULL OR NEW.worth_cents > above) THEN
            RAISE EXCEPTION 'payout % needs a second person', NEW.id USING ERRCODE = '23514';
        END IF;
        RETURN NEW;
    END IF;
    SELECT * INTO held FROM payouts_payoutapproval WHERE id = NEW.approval_id;
    IF (held.store_id, held.mode) IS DISTINCT FROM (NEW.store_id, NEW.mode) THEN
        RAISE EXCEPTION 'the approval of payout % is another store''s', NEW.id USING ERRCODE = '23514';
    END IF;
    IF held.status <> 'approved' AND NEW.status NOT IN ('requires_review', 'failed') THEN
        RAISE EXCEPTION 'payout % waits for a second person', NEW.id USING ERRCODE = '23514';
    END IF;
    -- An approval is for one payout; besides for the lines of its list, and for what its schedule pays to the same destination.
    IF TG_OP = 'INSERT'
       AND NOT (held.status = 'waiting' AND NOT EXISTS (SELECT 1 FROM payouts_payout WHERE approval_id = held.id)
                AND NOT EXISTS (SELECT 1 FROM payouts_payoutbatch WHERE approval_id = held.id))
       AND NOT EXISTS (SELECT 1 FROM payouts_payoutbatch b WHERE b.approval_id = held.id AND NEW.idempotency_caller = 'batch'
                       AND left(NEW.idempotency_key, 37) = b.id || '-')
       AND NOT EXISTS (SELECT 1 FROM payouts_payout p WHERE p.approval_id = held.id AND p.schedule_id = NEW.schedule_id
                       AND (p.asset_id, p.destination_id, p.destination_address)
                           IS NOT DISTINCT FROM (NEW.asset_id, NEW.destination_id, NEW.destination_address)) THEN
        RAISE EXCEPTION 'the approval of payout % is another''s', NEW.id USING ERRCODE = '23514';
    END IF;
    RETURN NEW;
END $function$;
CREATE OR REPLACE FUNCTION payouts_check_decision()
 RETURNS trigger
 LANGUAGE plpgsql
 SET search_path TO 'public', 'pg_temp'
AS $function$
BEGIN
    IF TG_OP = 'DELETE' THEN
        RAISE EXCEPTION 'an approval is never deleted' USING ERRCODE = '23001';
    END IF;
    IF TG_OP = 'INSERT' THEN
        IF NEW.status <> 'waiting' THEN
            RAISE EXCEPTION 'an approval is asked for before it is given' USING ERRCODE = '23514';
        END IF;
        RETURN NEW;
    END IF;
    IF NEW.store_id <> OLD.store_id AND stores_is_put_away(OLD.store_id, NEW.store_id, NEW.mode)
       AND to_jsonb(NEW) - 'store_id' = to_jsonb(OLD) - 'store_id' THEN
        RETURN NEW;
    END IF;
    IF OLD.status <> 'waiting' OR (NEW.id, NEW.store_id, NEW.mode, NEW.created_at, NEW.maker_id, NEW.currency, NEW.worth_cents,
                                   NEW.above_cents, NEW.expires_at)
       IS DISTINCT FROM (OLD.id, OLD.store_id, OLD.mode, OLD.created_at, OLD.maker_id, OLD.currency, OLD.worth_cents,
                         OLD.above_cents, OLD.expires_at) THEN
        RAISE EXCEPTION 'an approval is decided once' USING ERRCODE = '23001';
    END IF;
    RETURN NEW;
END $function$;
"""


class Migration(migrations.Migration):
    dependencies = [("payouts", "0012_posted_by_the_web"), ("stores", "0019_test_data_put_away")]

    operations = [
        migrations.RunSQL("SET LOCAL lock_timeout = '5s'", migrations.RunSQL.noop),
        migrations.RunSQL(FORWARD, migrations.RunSQL.noop),
    ]
