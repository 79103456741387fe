-- Refuses a refund of a held share that isn't what the share says, and an automatic one to an
-- address that has shown no key.
CREATE OR REPLACE FUNCTION payments_guard_refund()
 RETURNS trigger
 LANGUAGE plpgsql
 SET search_path TO 'public', 'pg_temp'
AS $function$
BEGIN
    IF TG_OP = 'UPDATE' THEN
        RAISE EXCEPTION 'a refund of a held share keeps its share, its coins and its address'
            USING ERRCODE = 'check_violation', CONSTRAINT = 'refund_of_held_is_kept';
    END IF;
    IF NEW.held_id IS NOT NULL THEN
        IF NOT EXISTS (SELECT 1 FROM public.payments_heldrefund h WHERE h.id = NEW.held_id
            AND h.status = 'sent' AND h.payment_id = NEW.payment_id AND h.asset_id = NEW.asset_id
            AND h.amount_atomic = NEW.amount_atomic
            AND h.destination_address = NEW.destination_address AND h.reason = NEW.reason) THEN
            RAISE EXCEPTION 'a held share goes where its row says, as it says'
                USING ERRCODE = 'check_violation', CONSTRAINT = 'refund_as_held';
        END IF;
    ELSIF NEW.reason LIKE 'failed%' AND NOT NEW.is_simulated AND (EXISTS (
            SELECT 1 FROM public.payments_heldrefund h WHERE h.payment_id = NEW.payment_id
            AND h.asset_id = NEW.asset_id AND h.payer_address = NEW.destination_address
            AND h.status IN ('checking', 'waiting'))
        OR EXISTS (SELECT 1 FROM public.chain_payer p
            JOIN public.assets_asset a ON a.chain_id = p.chain_id WHERE a.id = NEW.asset_id
            AND p.address = NEW.destination_address AND p.kind <> 'account')) THEN
        RAISE EXCEPTION 'nothing goes by itself to an address that has shown no key'
            USING ERRCODE = 'check_violation', CONSTRAINT = 'refund_to_a_known_payer';
    END IF;
    RETURN NEW;
END $function$;

CREATE TRIGGER refund_guarded BEFORE INSERT ON payments_refund FOR EACH ROW WHEN (new.held_id IS NOT NULL OR new.reason::text ~~ 'failed%'::text) EXECUTE FUNCTION payments_guard_refund();

CREATE TRIGGER refund_of_held_kept BEFORE UPDATE ON payments_refund FOR EACH ROW WHEN ((old.held_id IS NOT NULL OR new.held_id IS NOT NULL) AND (old.held_id IS DISTINCT FROM new.held_id OR old.destination_address::text IS DISTINCT FROM new.destination_address::text OR old.amount_atomic IS DISTINCT FROM new.amount_atomic OR old.asset_id::text IS DISTINCT FROM new.asset_id::text OR old.payment_id IS DISTINCT FROM new.payment_id)) EXECUTE FUNCTION payments_guard_refund();
