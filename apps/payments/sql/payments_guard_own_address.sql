-- Refuses a payment an address of a wallet that its store hasn't chosen for the asset.
CREATE OR REPLACE FUNCTION payments_guard_own_address()
 RETURNS trigger
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'public', 'pg_temp'
AS $function$
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

CREATE TRIGGER own_address_is_chosen AFTER INSERT OR UPDATE OF address, index, purpose, mode ON chain_address FOR EACH ROW WHEN (new.purpose::text = 'own'::text) EXECUTE FUNCTION payments_guard_own_address('address');

CREATE TRIGGER payment_address_is_of_its_wallet AFTER INSERT OR UPDATE OF address_id, asset_id, payment_id, own_wallet_id ON payments_paymentaddress FOR EACH ROW WHEN (new.own_wallet_id IS NOT NULL) EXECUTE FUNCTION payments_guard_own_address('address_id');
