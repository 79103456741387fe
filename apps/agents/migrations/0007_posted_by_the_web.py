"""The web posts by a function of the movement what a draw on a mandate takes."""

from django.db import migrations

POST = """
CREATE FUNCTION agents_post_x402_settled(p_settlement uuid, p_at timestamp with time zone,
    OUT movement_id bigint, OUT is_new boolean, OUT moved_atomic numeric) RETURNS record
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
DECLARE
    draw agents_settlement;
BEGIN
    SELECT * INTO draw FROM agents_settlement
    WHERE id = p_settlement AND status IN ('pending', 'submitted') AND amount_atomic > 0 FOR NO KEY UPDATE;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'permission denied for movement x402:% (x402_settled): no draw waits for it', p_settlement
            USING ERRCODE = '42501';
    END IF;
    SELECT * INTO movement_id, is_new, moved_atomic FROM ledger_book('x402:' || p_settlement, 'x402_settled', draw.mode,
        p_settlement, p_at, draw.asset_id, ARRAY[draw.store_id, NULL], ARRAY['available', 'x402_clearing'],
        ARRAY[-draw.amount_atomic, draw.amount_atomic], ARRAY['principal', 'principal']);
END $$;
"""


class Migration(migrations.Migration):
    dependencies = [
        ("agents", "0006_suspended_stores"),
        ("ledger", "0008_a_function_a_movement"),
    ]

    operations = [
        migrations.RunSQL("SET LOCAL lock_timeout = '5s'", migrations.RunSQL.noop),
        migrations.RunSQL(POST, "DROP FUNCTION agents_post_x402_settled(uuid, timestamptz)"),
    ]
