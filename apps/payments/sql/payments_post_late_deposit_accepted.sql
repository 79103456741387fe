-- For the web: settles a deposit that is held for a payment and came too late, at its locked fees.
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
