-- Refuses a choice of a wallet that isn't the store's or fits no network, and that the web lets one
-- count, that anybody changes what the owners were told of, or ends one that counts.
CREATE OR REPLACE FUNCTION chain_guard_wallet_choice()
 RETURNS trigger
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'public', 'pg_temp'
AS $function$
DECLARE
    poster text := coalesce(nullif(current_setting('role'), 'none'), session_user);
    why text;
BEGIN
    IF TG_OP = 'DELETE' THEN
        why := 'it is kept';
    ELSIF TG_OP = 'INSERT' THEN
        why := CASE
            WHEN num_nonnulls(NEW.told_at, NEW.active_from, NEW.stopped_at) > 0 THEN 'the owners are told of it first'
            WHEN NOT EXISTS (SELECT FROM assets_asset a JOIN assets_chain c ON c.id = a.chain_id
                WHERE a.id = NEW.asset_id AND c.mode = NEW.mode AND (NEW.wallet_id IS NULL OR EXISTS (
                    SELECT FROM chain_ownwallet w WHERE w.id = NEW.wallet_id AND w.store_id = NEW.store_id
                        AND w.mode = NEW.mode AND w.family = c.family
                        AND (w.chain_id IS NULL OR w.chain_id = c.id))))
                THEN 'the wallet is another store''s, or of another network'
            WHEN EXISTS (SELECT FROM stores_store s WHERE s.id = NEW.store_id AND s.platform_id IS NOT NULL)
                THEN 'the platform takes its fee from coins that are held' END;
    ELSE
        why := CASE
            WHEN (NEW.id, NEW.store_id, NEW.mode, NEW.asset_id, NEW.wallet_id, NEW.created_at, NEW.asked_by_id)
                IS DISTINCT FROM (OLD.id, OLD.store_id, OLD.mode, OLD.asset_id, OLD.wallet_id, OLD.created_at, OLD.asked_by_id)
                THEN 'what was asked for is never another'
            WHEN OLD.stopped_at IS NOT NULL AND NEW IS DISTINCT FROM OLD THEN 'it was stopped'
            WHEN OLD.told_at IS NOT NULL AND (NEW.told_at, NEW.active_from) IS DISTINCT FROM (OLD.told_at, OLD.active_from)
                THEN 'the owners were told from when on it counts'
            WHEN poster = 'tillgate_web' AND (NEW.told_at, NEW.active_from, NEW.waits_for)
                IS DISTINCT FROM (OLD.told_at, OLD.active_from, OLD.waits_for) THEN 'a worker tells the owners'
            WHEN NEW.stopped_at IS NOT NULL AND OLD.stopped_at IS NULL AND OLD.active_from <= clock_timestamp()
                THEN 'it counts already: choose another' END;
    END IF;
    IF why IS NOT NULL THEN
        RAISE EXCEPTION 'permission denied for wallet choice: %', why USING ERRCODE = '42501';
    END IF;
    RETURN NEW;
END $function$;

CREATE TRIGGER wallet_choice_is_the_workers BEFORE INSERT OR DELETE OR UPDATE ON chain_walletchoice FOR EACH ROW EXECUTE FUNCTION chain_guard_wallet_choice();
