-- Refuses to change an account, an account that doesn't begin empty, and a checkpoint that its
-- settled entries don't add up to.
CREATE OR REPLACE FUNCTION ledger_check_account()
 RETURNS trigger
 LANGUAGE plpgsql
 SET search_path TO 'public', 'pg_temp'
AS $function$
DECLARE
    covered numeric;
    newest bigint;
BEGIN
    IF TG_OP = 'INSERT' THEN
        IF NEW.checkpoint_atomic <> 0 OR NEW.checkpoint_id <> 0 OR NEW.observed_id <> 0 THEN
            RAISE EXCEPTION 'an account begins empty' USING ERRCODE = '23514';
        END IF;
        RETURN NEW;
    END IF;
    IF (NEW.id, NEW.mode, NEW.asset_id, NEW.kind, NEW.is_guarded)
       IS DISTINCT FROM (OLD.id, OLD.mode, OLD.asset_id, OLD.kind, OLD.is_guarded)
       OR NEW.store_id IS DISTINCT FROM OLD.store_id AND NOT stores_is_put_away(OLD.store_id, NEW.store_id, NEW.mode) THEN
        RAISE EXCEPTION 'an account is never changed' USING ERRCODE = '23001';
    END IF;
    IF (NEW.checkpoint_id, NEW.checkpoint_atomic) IS DISTINCT FROM (OLD.checkpoint_id, OLD.checkpoint_atomic) THEN
        IF NEW.checkpoint_id > OLD.checkpoint_id AND (NEW.checkpoint_id > OLD.observed_id OR NOT ledger_is_settled(OLD.observed_xid)) THEN
            RAISE EXCEPTION 'the checkpoint of account % covers running transactions', NEW.id USING ERRCODE = '23514';
        END IF;
        covered := CASE WHEN NEW.checkpoint_id >= OLD.checkpoint_id THEN OLD.checkpoint_atomic ELSE 0 END
            + coalesce((SELECT sum(e.amount_atomic) FROM ledger_entry e WHERE e.account_id = NEW.id AND e.id <= NEW.checkpoint_id
                AND e.id > CASE WHEN NEW.checkpoint_id >= OLD.checkpoint_id THEN OLD.checkpoint_id ELSE 0 END), 0);
        IF NEW.checkpoint_atomic IS DISTINCT FROM covered THEN
            RAISE EXCEPTION 'the checkpoint of account % is not what its entries say', NEW.id USING ERRCODE = '23514';
        END IF;
    END IF;
    IF OLD.observed_id > NEW.checkpoint_id AND OLD.observed_xid < pg_snapshot_xmax(pg_current_snapshot()) THEN
        NEW.observed_id := OLD.observed_id;
        NEW.observed_xid := OLD.observed_xid;
        RETURN NEW;
    END IF;
    SELECT e.id INTO newest FROM ledger_entry e WHERE e.account_id = NEW.id ORDER BY e.id DESC LIMIT 1;
    IF newest > NEW.checkpoint_id THEN
        NEW.observed_id := newest;
        NEW.observed_xid := ledger_fresh_transaction();
    ELSE
        NEW.observed_id := NEW.checkpoint_id;
        NEW.observed_xid := '0';
    END IF;
    RETURN NEW;
END $function$;

CREATE TRIGGER account_checked BEFORE INSERT OR UPDATE ON ledger_account FOR EACH ROW EXECUTE FUNCTION ledger_check_account();
