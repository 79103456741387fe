"""A payment's address may be of the merchant's own wallet. Then what comes is booked in memo
accounts, and the database refuses an address that no wallet gives which the store has chosen.
"""

import django.db.models.deletion
from django.db import migrations, models

FORWARD = """
CREATE OR REPLACE FUNCTION payments_is_own(p_address text)
 RETURNS boolean
 LANGUAGE sql
 STABLE
 SET search_path TO 'public', 'pg_temp'
AS $function$
    SELECT EXISTS (SELECT FROM chain_address WHERE address = p_address AND purpose = 'own')
$function$;

CREATE OR REPLACE FUNCTION payments_post_deposit_confirmed(p_deposit uuid, p_payment uuid, p_at timestamp with time zone, OUT movement_id bigint, OUT is_new boolean, OUT moved_atomic numeric)
 RETURNS record
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'public', 'pg_temp'
AS $function$
DECLARE
    payment payments_payment;
    deposit chain_deposit;
    is_own boolean;
BEGIN
    SELECT * INTO payment FROM payments_payment WHERE id = p_payment FOR NO KEY UPDATE;
    SELECT d.* INTO deposit FROM chain_deposit d JOIN payments_paymentaddress w ON w.address_id = d.address_id
    JOIN payments_payment p ON p.id = w.payment_id AND p.store_id = payment.store_id AND p.mode = payment.mode
    WHERE d.id = p_deposit AND d.status = 'confirmed' AND (d.is_simulated AND payment.mode = 'test' OR NOT d.is_simulated AND NOT d.is_lost AND EXISTS (
            SELECT FROM chain_block b WHERE b.chain_id = d.chain_id AND b.number = d.block_number
                AND b.hash = d.block_hash AND b.is_canonical)) FOR NO KEY UPDATE OF d;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'permission denied for movement deposit:% (deposit_confirmed): no chain has brought this', p_deposit USING ERRCODE = '42501';
    END IF;
    is_own := payments_is_own(deposit.address_id);
    SELECT * INTO movement_id, is_new, moved_atomic FROM ledger_book('deposit:' || p_deposit, 'deposit_confirmed', payment.mode, p_payment, p_at, deposit.asset_id,
        ARRAY[NULL, payment.store_id],
        CASE WHEN is_own THEN ARRAY['own_wallets', 'own_pending'] ELSE ARRAY[CASE WHEN deposit.is_simulated THEN 'custody_simulated' ELSE 'custody_deposits' END, 'held'] END,
        ARRAY[-deposit.amount_atomic, deposit.amount_atomic], ARRAY['principal', 'principal']);
END $function$;

CREATE OR REPLACE FUNCTION payments_post_late_deposit_accepted(p_deposit uuid, p_payment uuid, p_at timestamp with time zone, OUT movement_id bigint, OUT is_new boolean, OUT moved_atomic numeric)
 RETURNS record
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'public', 'pg_temp'
AS $function$
DECLARE
    payment payments_payment;
    gross numeric;
    service_fee numeric;
    platform_fee numeric;
    is_own boolean;
    asset text;
BEGIN
    SELECT * INTO payment FROM payments_payment WHERE id = p_payment FOR NO KEY UPDATE;
    SELECT d.amount_atomic, d.asset_id, payments_is_own(d.address_id) INTO gross, asset, is_own FROM chain_deposit d
    JOIN ledger_movement m ON m.key = 'deposit:' || d.id AND m.reference = p_payment
    JOIN payments_latedeposit l ON l.deposit_id = d.id AND l.payment_id = p_payment
    WHERE d.id = p_deposit AND d.status = 'confirmed';
    IF NOT FOUND THEN
        RAISE EXCEPTION 'permission denied for movement settle-late:% (late_deposit_accepted): it is held for no such payment', p_deposit USING ERRCODE = '42501';
    END IF;
    service_fee := floor(gross * payment.fee_fraction);
    platform_fee := CASE WHEN payment.platform_id IS NULL THEN 0 ELSE floor(gross * coalesce(payment.platform_fee_fraction, 0)) END;
    IF least(service_fee, platform_fee, gross - service_fee - platform_fee) < 0 THEN
        RAISE EXCEPTION 'permission denied for movement of payment %: a share of it is below zero', payment.id USING ERRCODE = '42501';
    END IF;
    SELECT * INTO movement_id, is_new, moved_atomic FROM ledger_book('settle-late:' || p_deposit, 'late_deposit_accepted', payment.mode, payment.id, p_at, asset,
        ARRAY[payment.store_id, payment.store_id, NULL, payment.platform_id],
        CASE WHEN is_own THEN ARRAY['own_pending', 'own_received', 'own_fees_due', 'available'] ELSE ARRAY['held', 'available', 'service_fees', 'available'] END,
        ARRAY[-gross, gross - service_fee - platform_fee, service_fee, platform_fee],
        ARRAY['gross', 'net', 'service_fee', 'platform_fee']);
END $function$;

CREATE OR REPLACE FUNCTION payments_post_overpayment_settled(p_payment uuid, p_deposit uuid, p_at timestamp with time zone, OUT movement_id bigint, OUT is_new boolean, OUT moved_atomic numeric)
 RETURNS record
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'public', 'pg_temp'
AS $function$
DECLARE
    payment payments_payment;
    gross numeric;
    service_fee numeric;
    platform_fee numeric;
    is_own boolean;
    asset text;
BEGIN
    SELECT * INTO payment FROM payments_payment WHERE id = p_payment FOR NO KEY UPDATE;
    SELECT d.amount_atomic, d.asset_id, payments_is_own(w.address_id) INTO gross, asset, is_own FROM payments_paymentaddress w
    JOIN chain_deposit d ON d.address_id = w.address_id AND d.asset_id = w.asset_id AND d.status = 'confirmed'
    WHERE w.payment_id = p_payment AND payment.status = 'completed'
        AND NOT EXISTS (SELECT FROM payments_latedeposit l WHERE l.deposit_id = d.id AND l.payment_id = p_payment) AND d.id = p_deposit;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'permission denied for movement settle:% (overpayment_settled): it has received no such deposit, or is not completed', p_payment USING ERRCODE = '42501';
    END IF;
    service_fee := floor(gross * payment.fee_fraction);
    platform_fee := CASE WHEN payment.platform_id IS NULL THEN 0 ELSE floor(gross * coalesce(payment.platform_fee_fraction, 0)) END;
    IF least(service_fee, platform_fee, gross - service_fee - platform_fee) < 0 THEN
        RAISE EXCEPTION 'permission denied for movement of payment %: a share of it is below zero', payment.id USING ERRCODE = '42501';
    END IF;
    SELECT * INTO movement_id, is_new, moved_atomic FROM ledger_book('settle:' || p_payment || ':' || asset || ':' || p_deposit, 'overpayment_settled', payment.mode, payment.id, p_at, asset,
        ARRAY[payment.store_id, payment.store_id, NULL, payment.platform_id],
        CASE WHEN is_own THEN ARRAY['own_pending', 'own_received', 'own_fees_due', 'available'] ELSE ARRAY['held', 'available', 'service_fees', 'available'] END,
        ARRAY[-gross, gross - service_fee - platform_fee, service_fee, platform_fee],
        ARRAY['gross', 'net', 'service_fee', 'platform_fee']);
END $function$;

CREATE OR REPLACE FUNCTION payments_post_payment_settled(p_payment uuid, p_asset text, p_at timestamp with time zone, OUT movement_id bigint, OUT is_new boolean, OUT moved_atomic numeric)
 RETURNS record
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'public', 'pg_temp'
AS $function$
DECLARE
    payment payments_payment;
    gross numeric;
    service_fee numeric;
    platform_fee numeric;
    is_own boolean;
    asset text := p_asset;
BEGIN
    SELECT * INTO payment FROM payments_payment WHERE id = p_payment FOR NO KEY UPDATE;
    SELECT sum(d.amount_atomic), bool_or(payments_is_own(w.address_id)) INTO gross, is_own FROM payments_paymentaddress w
    JOIN chain_deposit d ON d.address_id = w.address_id AND d.asset_id = w.asset_id AND d.status = 'confirmed'
    WHERE w.payment_id = p_payment AND payment.status = 'completed'
        AND NOT EXISTS (SELECT FROM payments_latedeposit l WHERE l.deposit_id = d.id AND l.payment_id = p_payment) AND w.asset_id = p_asset HAVING sum(d.amount_atomic) > 0;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'permission denied for movement settle:% (payment_settled): it has received nothing in this asset, or is not completed', p_payment USING ERRCODE = '42501';
    END IF;
    service_fee := floor(gross * payment.fee_fraction);
    platform_fee := CASE WHEN payment.platform_id IS NULL THEN 0 ELSE floor(gross * coalesce(payment.platform_fee_fraction, 0)) END;
    IF least(service_fee, platform_fee, gross - service_fee - platform_fee) < 0 THEN
        RAISE EXCEPTION 'permission denied for movement of payment %: a share of it is below zero', payment.id USING ERRCODE = '42501';
    END IF;
    SELECT * INTO movement_id, is_new, moved_atomic FROM ledger_book('settle:' || p_payment || ':' || p_asset, 'payment_settled', payment.mode, payment.id, p_at, asset,
        ARRAY[payment.store_id, payment.store_id, NULL, payment.platform_id],
        CASE WHEN is_own THEN ARRAY['own_pending', 'own_received', 'own_fees_due', 'available'] ELSE ARRAY['held', 'available', 'service_fees', 'available'] END,
        ARRAY[-gross, gross - service_fee - platform_fee, service_fee, platform_fee],
        ARRAY['gross', 'net', 'service_fee', 'platform_fee']);
END $function$;

CREATE OR REPLACE FUNCTION payments_post_simulated_deposit_changed(p_deposit uuid, p_payment uuid, p_at timestamp with time zone, OUT movement_id bigint, OUT is_new boolean, OUT moved_atomic numeric)
 RETURNS record
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'public', 'pg_temp'
AS $function$
DECLARE
    payment payments_payment;
    deposit chain_deposit;
    grown numeric;
BEGIN
    SELECT * INTO payment FROM payments_payment WHERE id = p_payment FOR NO KEY UPDATE;
    SELECT d.* INTO deposit FROM chain_deposit d JOIN payments_paymentaddress w ON w.address_id = d.address_id
    WHERE d.id = p_deposit AND d.is_simulated AND w.payment_id = p_payment AND payment.mode = 'test' FOR NO KEY UPDATE OF d;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'permission denied for movement deposit:% (simulated_deposit_changed): nobody has simulated this', p_deposit USING ERRCODE = '42501';
    END IF;
    SELECT deposit.amount_atomic - sum(e.amount_atomic) INTO grown
    FROM ledger_movement m JOIN ledger_entry e ON e.movement_id = m.id JOIN ledger_account a ON a.id = e.account_id
    WHERE m.reference = p_payment AND a.kind IN ('held', 'own_pending') AND m.kind IN ('deposit_confirmed', 'simulated_deposit_changed')
        AND split_part(m.key, ':', 2) = p_deposit::text;
    IF coalesce(grown, 0) = 0 THEN
        RAISE EXCEPTION 'permission denied for movement deposit:% (simulated_deposit_changed): it is booked as it is', p_deposit
            USING ERRCODE = '42501';
    END IF;
    SELECT * INTO movement_id, is_new, moved_atomic FROM ledger_book('deposit:' || p_deposit || ':' || gen_random_uuid(), 'simulated_deposit_changed', 'test', p_payment, p_at,
        deposit.asset_id, ARRAY[NULL, payment.store_id], CASE WHEN payments_is_own(deposit.address_id) THEN ARRAY['own_wallets', 'own_pending'] ELSE ARRAY['custody_simulated', 'held'] END, ARRAY[-grown, grown], ARRAY['principal', 'principal']);
END $function$;


CREATE FUNCTION payments_guard_own_address() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER
SET search_path TO 'public', 'pg_temp' AS $function$
DECLARE
    named text := to_jsonb(NEW) ->> TG_ARGV[0];
BEGIN
    IF NOT EXISTS (
        SELECT FROM payments_paymentaddress w JOIN payments_payment p ON p.id = w.payment_id
        JOIN chain_address a ON a.address = w.address_id AND a.purpose = 'own' AND a.mode = p.mode
        JOIN chain_ownwallet o ON o.id = w.own_wallet_id AND o.number = a.index >> 31
            AND o.store_id = p.store_id AND o.mode = p.mode
        JOIN chain_walletchoice c ON c.wallet_id = o.id AND c.store_id = p.store_id AND c.mode = p.mode
            AND c.asset_id = w.asset_id AND c.stopped_at IS NULL AND c.active_from <= clock_timestamp()
        WHERE w.address_id = named AND NOT EXISTS (
            SELECT FROM chain_walletchoice n WHERE n.store_id = c.store_id AND n.mode = c.mode
                AND n.asset_id = c.asset_id AND n.stopped_at IS NULL AND n.active_from > c.active_from
                AND n.active_from <= clock_timestamp() - interval '10 minutes')) THEN
        RAISE EXCEPTION 'permission denied for address %: no wallet that the store has chosen for this asset gives it',
            named USING ERRCODE = '42501';
    END IF;
    RETURN NULL;
END $function$;

CREATE TRIGGER own_address_is_chosen AFTER INSERT OR UPDATE OF address, index, purpose, mode ON chain_address
    FOR EACH ROW WHEN (NEW.purpose = 'own') EXECUTE FUNCTION payments_guard_own_address('address');
CREATE TRIGGER payment_address_is_of_its_wallet AFTER INSERT OR UPDATE OF address_id, asset_id, payment_id, own_wallet_id
    ON payments_paymentaddress FOR EACH ROW WHEN (NEW.own_wallet_id IS NOT NULL)
    EXECUTE FUNCTION payments_guard_own_address('address_id');
"""
BACKWARD = """
DROP TRIGGER own_address_is_chosen ON chain_address;
DROP TRIGGER payment_address_is_of_its_wallet ON payments_paymentaddress;
DROP FUNCTION payments_guard_own_address();
CREATE OR REPLACE FUNCTION payments_post_deposit_confirmed(p_deposit uuid, p_payment uuid, p_at timestamp with time zone, OUT movement_id bigint, OUT is_new boolean, OUT moved_atomic numeric)
 RETURNS record
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'public', 'pg_temp'
AS $function$
DECLARE
    payment payments_payment;
    deposit chain_deposit;
BEGIN
    SELECT * INTO payment FROM payments_payment WHERE id = p_payment FOR NO KEY UPDATE;
    SELECT d.* INTO deposit FROM chain_deposit d JOIN payments_paymentaddress w ON w.address_id = d.address_id
    JOIN payments_payment p ON p.id = w.payment_id AND p.store_id = payment.store_id AND p.mode = payment.mode
    WHERE d.id = p_deposit AND d.status = 'confirmed' AND (d.is_simulated AND payment.mode = 'test' OR NOT d.is_simulated AND NOT d.is_lost AND EXISTS (
            SELECT FROM chain_block b WHERE b.chain_id = d.chain_id AND b.number = d.block_number
                AND b.hash = d.block_hash AND b.is_canonical)) FOR NO KEY UPDATE OF d;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'permission denied for movement deposit:% (deposit_confirmed): no chain has brought this', p_deposit USING ERRCODE = '42501';
    END IF;
    SELECT * INTO movement_id, is_new, moved_atomic FROM ledger_book('deposit:' || p_deposit, 'deposit_confirmed', payment.mode, p_payment, p_at, deposit.asset_id,
        ARRAY[NULL, payment.store_id],
        ARRAY[CASE WHEN deposit.is_simulated THEN 'custody_simulated' ELSE 'custody_deposits' END, 'held'],
        ARRAY[-deposit.amount_atomic, deposit.amount_atomic], ARRAY['principal', 'principal']);
END $function$;

CREATE OR REPLACE FUNCTION payments_post_late_deposit_accepted(p_deposit uuid, p_payment uuid, p_at timestamp with time zone, OUT movement_id bigint, OUT is_new boolean, OUT moved_atomic numeric)
 RETURNS record
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'public', 'pg_temp'
AS $function$
DECLARE
    payment payments_payment;
    gross numeric;
    service_fee numeric;
    platform_fee numeric;
    asset text;
BEGIN
    SELECT * INTO payment FROM payments_payment WHERE id = p_payment FOR NO KEY UPDATE;
    SELECT d.amount_atomic, d.asset_id INTO gross, asset FROM chain_deposit d
    JOIN ledger_movement m ON m.key = 'deposit:' || d.id AND m.reference = p_payment
    JOIN payments_latedeposit l ON l.deposit_id = d.id AND l.payment_id = p_payment
    WHERE d.id = p_deposit AND d.status = 'confirmed';
    IF NOT FOUND THEN
        RAISE EXCEPTION 'permission denied for movement settle-late:% (late_deposit_accepted): it is held for no such payment', p_deposit USING ERRCODE = '42501';
    END IF;
    service_fee := floor(gross * payment.fee_fraction);
    platform_fee := CASE WHEN payment.platform_id IS NULL THEN 0 ELSE floor(gross * coalesce(payment.platform_fee_fraction, 0)) END;
    IF least(service_fee, platform_fee, gross - service_fee - platform_fee) < 0 THEN
        RAISE EXCEPTION 'permission denied for movement of payment %: a share of it is below zero', payment.id USING ERRCODE = '42501';
    END IF;
    SELECT * INTO movement_id, is_new, moved_atomic FROM ledger_book('settle-late:' || p_deposit, 'late_deposit_accepted', payment.mode, payment.id, p_at, asset,
        ARRAY[payment.store_id, payment.store_id, NULL, payment.platform_id],
        ARRAY['held', 'available', 'service_fees', 'available'],
        ARRAY[-gross, gross - service_fee - platform_fee, service_fee, platform_fee],
        ARRAY['gross', 'net', 'service_fee', 'platform_fee']);
END $function$;

CREATE OR REPLACE FUNCTION payments_post_overpayment_settled(p_payment uuid, p_deposit uuid, p_at timestamp with time zone, OUT movement_id bigint, OUT is_new boolean, OUT moved_atomic numeric)
 RETURNS record
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'public', 'pg_temp'
AS $function$
DECLARE
    payment payments_payment;
    gross numeric;
    service_fee numeric;
    platform_fee numeric;
    asset text;
BEGIN
    SELECT * INTO payment FROM payments_payment WHERE id = p_payment FOR NO KEY UPDATE;
    SELECT d.amount_atomic, d.asset_id INTO gross, asset FROM payments_paymentaddress w
    JOIN chain_deposit d ON d.address_id = w.address_id AND d.asset_id = w.asset_id AND d.status = 'confirmed'
    WHERE w.payment_id = p_payment AND payment.status = 'completed'
        AND NOT EXISTS (SELECT FROM payments_latedeposit l WHERE l.deposit_id = d.id AND l.payment_id = p_payment) AND d.id = p_deposit;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'permission denied for movement settle:% (overpayment_settled): it has received no such deposit, or is not completed', p_payment USING ERRCODE = '42501';
    END IF;
    service_fee := floor(gross * payment.fee_fraction);
    platform_fee := CASE WHEN payment.platform_id IS NULL THEN 0 ELSE floor(gross * coalesce(payment.platform_fee_fraction, 0)) END;
    IF least(service_fee, platform_fee, gross - service_fee - platform_fee) < 0 THEN
        RAISE EXCEPTION 'permission denied for movement of payment %: a share of it is below zero', payment.id USING ERRCODE = '42501';
    END IF;
    SELECT * INTO movement_id, is_new, moved_atomic FROM ledger_book('settle:' || p_payment || ':' || asset || ':' || p_deposit, 'overpayment_settled', payment.mode, payment.id, p_at, asset,
        ARRAY[payment.store_id, payment.store_id, NULL, payment.platform_id],
        ARRAY['held', 'available', 'service_fees', 'available'],
        ARRAY[-gross, gross - service_fee - platform_fee, service_fee, platform_fee],
        ARRAY['gross', 'net', 'service_fee', 'platform_fee']);
END $function$;

CREATE OR REPLACE FUNCTION payments_post_payment_settled(p_payment uuid, p_asset text, p_at timestamp with time zone, OUT movement_id bigint, OUT is_new boolean, OUT moved_atomic numeric)
 RETURNS record
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'public', 'pg_temp'
AS $function$
DECLARE
    payment payments_payment;
    gross numeric;
    service_fee numeric;
    platform_fee numeric;
    asset text := p_asset;
BEGIN
    SELECT * INTO payment FROM payments_payment WHERE id = p_payment FOR NO KEY UPDATE;
    SELECT sum(d.amount_atomic) INTO gross FROM payments_paymentaddress w
    JOIN chain_deposit d ON d.address_id = w.address_id AND d.asset_id = w.asset_id AND d.status = 'confirmed'
    WHERE w.payment_id = p_payment AND payment.status = 'completed'
        AND NOT EXISTS (SELECT FROM payments_latedeposit l WHERE l.deposit_id = d.id AND l.payment_id = p_payment) AND w.asset_id = p_asset HAVING sum(d.amount_atomic) > 0;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'permission denied for movement settle:% (payment_settled): it has received nothing in this asset, or is not completed', p_payment USING ERRCODE = '42501';
    END IF;
    service_fee := floor(gross * payment.fee_fraction);
    platform_fee := CASE WHEN payment.platform_id IS NULL THEN 0 ELSE floor(gross * coalesce(payment.platform_fee_fraction, 0)) END;
    IF least(service_fee, platform_fee, gross - service_fee - platform_fee) < 0 THEN
        RAISE EXCEPTION 'permission denied for movement of payment %: a share of it is below zero', payment.id USING ERRCODE = '42501';
    END IF;
    SELECT * INTO movement_id, is_new, moved_atomic FROM ledger_book('settle:' || p_payment || ':' || p_asset, 'payment_settled', payment.mode, payment.id, p_at, asset,
        ARRAY[payment.store_id, payment.store_id, NULL, payment.platform_id],
        ARRAY['held', 'available', 'service_fees', 'available'],
        ARRAY[-gross, gross - service_fee - platform_fee, service_fee, platform_fee],
        ARRAY['gross', 'net', 'service_fee', 'platform_fee']);
END $function$;

CREATE OR REPLACE FUNCTION payments_post_simulated_deposit_changed(p_deposit uuid, p_payment uuid, p_at timestamp with time zone, OUT movement_id bigint, OUT is_new boolean, OUT moved_atomic numeric)
 RETURNS record
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'public', 'pg_temp'
AS $function$
DECLARE
    payment payments_payment;
    deposit chain_deposit;
    grown numeric;
BEGIN
    SELECT * INTO payment FROM payments_payment WHERE id = p_payment FOR NO KEY UPDATE;
    SELECT d.* INTO deposit FROM chain_deposit d JOIN payments_paymentaddress w ON w.address_id = d.address_id
    WHERE d.id = p_deposit AND d.is_simulated AND w.payment_id = p_payment AND payment.mode = 'test' FOR NO KEY UPDATE OF d;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'permission denied for movement deposit:% (simulated_deposit_changed): nobody has simulated this', p_deposit USING ERRCODE = '42501';
    END IF;
    SELECT deposit.amount_atomic - sum(e.amount_atomic) INTO grown
    FROM ledger_movement m JOIN ledger_entry e ON e.movement_id = m.id JOIN ledger_account a ON a.id = e.account_id
    WHERE m.reference = p_payment AND a.kind = 'held' AND m.kind IN ('deposit_confirmed', 'simulated_deposit_changed')
        AND split_part(m.key, ':', 2) = p_deposit::text;
    IF coalesce(grown, 0) = 0 THEN
        RAISE EXCEPTION 'permission denied for movement deposit:% (simulated_deposit_changed): it is booked as it is', p_deposit
            USING ERRCODE = '42501';
    END IF;
    SELECT * INTO movement_id, is_new, moved_atomic FROM ledger_book('deposit:' || p_deposit || ':' || gen_random_uuid(), 'simulated_deposit_changed', 'test', p_payment, p_at,
        deposit.asset_id, ARRAY[NULL, payment.store_id], ARRAY['custody_simulated', 'held'], ARRAY[-grown, grown], ARRAY['principal', 'principal']);
END $function$;

DROP FUNCTION payments_is_own(text);
"""


class Migration(migrations.Migration):
    dependencies = [
        ("chain", "0025_own_wallets"),
        ("ledger", "0009_memo_accounts"),
        ("payments", "0026_index_of_amounts"),
    ]

    operations = [
        migrations.RunSQL("SET LOCAL lock_timeout = '5s'", migrations.RunSQL.noop),
        migrations.AddField(
            model_name="paymentaddress",
            name="own_wallet",
            field=models.ForeignKey(
                db_constraint=False,
                db_index=False,
                null=True,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="+",
                to="chain.ownwallet",
            ),
        ),
        migrations.RunSQL(FORWARD, BACKWARD),
    ]
