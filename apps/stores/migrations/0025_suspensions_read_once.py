"""A payment reads its store once for suspensions, and its platform only where there is one: every
payment pays for it."""

from django.db import migrations

HEAD = """
CREATE OR REPLACE FUNCTION stores_refuse_suspended() RETURNS trigger
LANGUAGE plpgsql SET search_path = public, pg_temp AS $$
"""
TAIL = """
        RAISE EXCEPTION 'the % of store % are suspended', TG_ARGV[0], NEW.store_id
            USING ERRCODE = 'check_violation', CONSTRAINT = 'store_' || TG_ARGV[0] || '_suspended';
    END IF;
    RETURN NEW;
END $$;
"""
IS_SUSPENDED = """CASE TG_ARGV[0] WHEN 'payouts' THEN payouts_suspended_at ELSE payments_suspended_at END IS NOT NULL
            OR archive_of_id IS NOT NULL OR NEW.mode = 'test' AND test_reset_at IS NOT NULL"""
ONCE = f"""{HEAD}DECLARE
    v_platform_id uuid;
    v_is_suspended boolean;
BEGIN
    IF TG_ARGV[0] = 'payouts' THEN
        PERFORM FROM stores_store
            WHERE id IN (NEW.store_id, (SELECT platform_id FROM stores_store WHERE id = NEW.store_id))
            ORDER BY id FOR SHARE;
    END IF;
    SELECT platform_id, {IS_SUSPENDED}
        INTO v_platform_id, v_is_suspended FROM stores_store WHERE id = NEW.store_id;
    IF v_platform_id IS NOT NULL AND NOT v_is_suspended THEN
        SELECT {IS_SUSPENDED}
            INTO v_is_suspended FROM stores_store WHERE id = v_platform_id;
    END IF;
    IF v_is_suspended THEN{TAIL}"""
BEFORE = f"""{HEAD}DECLARE
    v_platform_id uuid := (SELECT platform_id FROM stores_store WHERE id = NEW.store_id);
BEGIN
    IF TG_ARGV[0] = 'payouts' THEN
        PERFORM FROM stores_store WHERE id IN (NEW.store_id, v_platform_id) ORDER BY id FOR SHARE;
    END IF;
    PERFORM FROM stores_store WHERE id IN (NEW.store_id, v_platform_id)
        AND ({IS_SUSPENDED});
    IF FOUND THEN{TAIL}"""


class Migration(migrations.Migration):
    dependencies = [("stores", "0024_compatible_apis")]

    operations = [
        migrations.RunSQL("SET LOCAL lock_timeout = '5s'", migrations.RunSQL.noop),
        migrations.RunSQL(ONCE, BEFORE),
    ]
