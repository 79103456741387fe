"""The web charges what attempts of a payout have cost in the coin that its network takes fees in."""

from django.db import migrations

_CHARGED = """
CREATE OR REPLACE FUNCTION payouts_post_payout_gas_charged(p_payout uuid, p_at timestamp with time zone, OUT movement_id bigint, OUT is_new boolean, OUT moved_atomic numeric)
 RETURNS record
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'public', 'pg_temp'
AS $function$

DECLARE
    payout payouts_payout;
    native text;
    charged numeric;
BEGIN
    SELECT * INTO payout FROM payouts_payout WHERE id = p_payout AND failed_gas_due_atomic > 0 FOR NO KEY UPDATE;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'permission denied for movement payout-gas-charged:% (payout_gas_charged): nothing is due', p_payout
            USING ERRCODE = '42501';
    END IF;
    SELECT n.id INTO native FROM assets_asset a JOIN assets_asset n ON n.chain_id = a.chain_id AND n.pays_fees
    WHERE a.id = payout.asset_id;
    SELECT least(payout.failed_gas_due_atomic, coalesce(-sum(e.amount_atomic), 0),
        ledger_balance(ledger_account_id(payout.store_id, payout.mode, native, 'available', true))) INTO charged
    FROM ledger_movement m JOIN ledger_entry e ON e.movement_id = m.id JOIN ledger_account a ON a.id = e.account_id
    WHERE m.reference = p_payout AND m.kind IN ('payout_gas_paid', 'payout_gas_charged') AND a.kind = 'network_fees'
        AND a.asset_id = native;
    IF coalesce(charged, 0) <= 0 THEN
        RAISE EXCEPTION 'permission denied for movement payout-gas-charged:% (payout_gas_charged): nothing is due', p_payout
            USING ERRCODE = '42501';
    END IF;
    SELECT * INTO movement_id, is_new, moved_atomic FROM ledger_book('payout-gas-charged:' || p_payout || ':' || payout.failed_gas_atomic, 'payout_gas_charged', payout.mode, p_payout, p_at,
        native, ARRAY[payout.store_id, NULL], ARRAY['available', 'network_fees'], ARRAY[-charged, charged],
        ARRAY['network_fee', 'network_fee']);
END $function$;
"""
_SAYS_NATIVE = "n.pays_fees", "n.token_standard = 'Native'"


class Migration(migrations.Migration):
    dependencies = [("payouts", "0014_wallets_on_all_networks"), ("assets", "0019_fee_coins")]

    operations = [
        migrations.RunSQL("SET LOCAL lock_timeout = '5s'", migrations.RunSQL.noop),
        migrations.RunSQL(_CHARGED, _CHARGED.replace(*_SAYS_NATIVE)),
    ]
