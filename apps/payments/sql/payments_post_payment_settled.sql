-- For the web: settles what a completed payment has received in an asset, at its locked fees.
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
