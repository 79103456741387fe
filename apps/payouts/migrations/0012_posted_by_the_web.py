"""The web posts by a function of each movement what a payout sets aside, gives back, and what its
attempts have cost. Coins come back only of a payout that no transaction and no order of an off-ramp
may still pay, by rows that the web can't write.
"""

from django.db import migrations

_OUT = "OUT movement_id bigint, OUT is_new boolean, OUT moved_atomic numeric"
_HEAD = """
CREATE FUNCTION payouts_post_{kind}(p_payout uuid, p_at timestamp with time zone, {out}) RETURNS record
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
"""
_BOOK = "SELECT * INTO movement_id, is_new, moved_atomic FROM ledger_book"
CREATED = f"""{_HEAD.format(kind="payout_created", out=_OUT)}
DECLARE
    payout payouts_payout;
BEGIN
    SELECT * INTO payout FROM payouts_payout
    WHERE id = p_payout AND funds = 'reserved' AND status IN ('pending', 'requires_review') FOR NO KEY UPDATE;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'permission denied for movement payout:% (payout_created): no payout waits for it', p_payout
            USING ERRCODE = '42501';
    END IF;
    {_BOOK}('payout:' || p_payout, 'payout_created', payout.mode, p_payout, p_at, payout.asset_id,
        ARRAY[payout.store_id, payout.store_id], ARRAY['available', 'reserved'],
        ARRAY[-payout.amount_atomic, payout.amount_atomic], ARRAY['principal', 'principal']);
END $$;
"""
# Who asks for a transaction holds the payout's row, and asks for none of one that has failed.
RELEASED = f"""{_HEAD.format(kind="payout_released", out=_OUT)}
DECLARE
    payout payouts_payout;
BEGIN
    SELECT * INTO payout FROM payouts_payout WHERE id = p_payout AND status = 'failed' FOR NO KEY UPDATE;
    IF NOT FOUND OR EXISTS (SELECT FROM chain_outgoingtransaction o WHERE o.purpose = 'payout' AND o.status <> 'failed'
            AND o.reference >= p_payout || '-' AND o.reference < p_payout || '.')
        OR EXISTS (SELECT FROM payouts_offramporder WHERE payout_id = p_payout AND failed_at IS NULL) THEN
        RAISE EXCEPTION 'permission denied for movement payout-released:% (payout_released): it may be on its way', p_payout
            USING ERRCODE = '42501';
    END IF;
    {_BOOK}('payout-released:' || p_payout, 'payout_released', payout.mode, p_payout, p_at, payout.asset_id,
        ARRAY[payout.store_id, payout.store_id], ARRAY['reserved', 'available'],
        ARRAY[-payout.amount_atomic, payout.amount_atomic], ARRAY['principal', 'principal']);
END $$;
"""
# As much as is due and the store has, and never more than its attempts have cost by the books.
CHARGED = f"""{_HEAD.format(kind="payout_gas_charged", out=_OUT)}
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
    SELECT n.id INTO native FROM assets_asset a JOIN assets_asset n ON n.chain_id = a.chain_id AND n.token_standard = 'Native'
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
    {_BOOK}('payout-gas-charged:' || p_payout || ':' || payout.failed_gas_atomic, 'payout_gas_charged', payout.mode, p_payout, p_at,
        native, ARRAY[payout.store_id, NULL], ARRAY['available', 'network_fees'], ARRAY[-charged, charged],
        ARRAY['network_fee', 'network_fee']);
END $$;
"""


class Migration(migrations.Migration):
    dependencies = [
        ("payouts", "0011_orders_of_offramps"),
        ("ledger", "0008_a_function_a_movement"),
    ]

    operations = [
        migrations.RunSQL("SET LOCAL lock_timeout = '5s'", migrations.RunSQL.noop),
        *(
            migrations.RunSQL(sql, f"DROP FUNCTION payouts_post_{kind}(uuid, timestamptz)")
            for kind, sql in (
                ("payout_created", CREATED),
                ("payout_released", RELEASED),
                ("payout_gas_charged", CHARGED),
            )
        ),
    ]
