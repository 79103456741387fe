"""An account is found by its index, which IS NOT DISTINCT FROM doesn't go down: all accounts were
looked through."""

from django.db import migrations

_FUNCTION = """
CREATE OR REPLACE FUNCTION ledger_account_id(p_store uuid, p_mode text, p_asset text, p_kind text, p_is_guarded boolean)
RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
    found_id bigint;
BEGIN
    LOOP
        {}
        EXIT WHEN found_id IS NOT NULL;
        INSERT INTO ledger_account (store_id, mode, asset_id, kind, is_guarded, checkpoint_atomic)
        VALUES (p_store, p_mode, p_asset, p_kind, p_is_guarded, 0) ON CONFLICT DO NOTHING;
    END LOOP;
    RETURN found_id;
END $$
"""
_BY_INDEX = """IF p_store IS NULL THEN
            SELECT id INTO found_id FROM ledger_account
            WHERE store_id IS NULL AND mode = p_mode AND asset_id = p_asset AND kind = p_kind;
        ELSE
            SELECT id INTO found_id FROM ledger_account
            WHERE store_id = p_store AND mode = p_mode AND asset_id = p_asset AND kind = p_kind;
        END IF;"""
_BEFORE = """SELECT id INTO found_id FROM ledger_account
        WHERE store_id IS NOT DISTINCT FROM p_store AND mode = p_mode AND asset_id = p_asset AND kind = p_kind;"""


class Migration(migrations.Migration):

    dependencies = [
        ('ledger', '0013_order_of_transactions'),
    ]

    operations = [
        migrations.RunSQL("SET LOCAL lock_timeout = '5s'", migrations.RunSQL.noop),
        migrations.RunSQL(_FUNCTION.format(_BY_INDEX), _FUNCTION.format(_BEFORE)),
    ]
