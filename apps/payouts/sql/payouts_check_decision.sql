-- Refuses to delete an approval, to decide it twice, and to change what was asked for.
CREATE OR REPLACE FUNCTION payouts_check_decision()
 RETURNS trigger
 LANGUAGE plpgsql
 SET search_path TO 'public', 'pg_temp'
AS $function$
BEGIN
    IF TG_OP = 'DELETE' THEN
        RAISE EXCEPTION 'an approval is never deleted' USING ERRCODE = '23001';
    END IF;
    IF TG_OP = 'INSERT' THEN
        IF NEW.status <> 'waiting' THEN
            RAISE EXCEPTION 'an approval is asked for before it is given' USING ERRCODE = '23514';
        END IF;
        RETURN NEW;
    END IF;
    IF NEW.store_id <> OLD.store_id AND stores_is_put_away(OLD.store_id, NEW.store_id, NEW.mode)
       AND to_jsonb(NEW) - 'store_id' = to_jsonb(OLD) - 'store_id' THEN
        RETURN NEW;
    END IF;
    IF OLD.status <> 'waiting' OR (NEW.id, NEW.store_id, NEW.mode, NEW.created_at, NEW.maker_id, NEW.currency, NEW.worth_cents,
                                   NEW.above_cents, NEW.expires_at)
       IS DISTINCT FROM (OLD.id, OLD.store_id, OLD.mode, OLD.created_at, OLD.maker_id, OLD.currency, OLD.worth_cents,
                         OLD.above_cents, OLD.expires_at) THEN
        RAISE EXCEPTION 'an approval is decided once' USING ERRCODE = '23001';
    END IF;
    RETURN NEW;
END $function$;

CREATE TRIGGER payout_approval_decided_once BEFORE INSERT OR DELETE OR UPDATE ON payouts_payoutapproval FOR EACH ROW EXECUTE FUNCTION payouts_check_decision();
