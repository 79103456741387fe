-- Refuses web and workers a deposit that no chain has brought: they simulate in test mode, say
-- what was made of one, and take one that was set aside as confirmed in a block that stands.
CREATE OR REPLACE FUNCTION chain_guard_deposit()
 RETURNS trigger
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'public', 'pg_temp'
AS $function$
DECLARE
    is_refused boolean;
    told text[] := ARRAY['status', 'handled_status', 'confirmed_at'] || CASE WHEN coalesce(nullif(current_setting('role'), 'none'), session_user) = 'tillgate_worker' THEN ARRAY['is_unswept', 'left_atomic'] END;
BEGIN
    IF TG_OP = 'INSERT' THEN
        is_refused := NOT NEW.is_simulated OR NOT EXISTS (
            SELECT FROM assets_chain c JOIN assets_asset a ON a.chain_id = c.id
            JOIN chain_address p ON p.address = NEW.address_id AND p.mode = c.mode
            WHERE c.id = NEW.chain_id AND a.id = NEW.asset_id AND c.mode = 'test');
    ELSIF OLD.is_simulated THEN
        is_refused := (NEW.id, NEW.chain_id, NEW.asset_id, NEW.address_id, NEW.is_simulated)
            IS DISTINCT FROM (OLD.id, OLD.chain_id, OLD.asset_id, OLD.address_id, OLD.is_simulated);
    ELSE
        is_refused := to_jsonb(NEW) - told IS DISTINCT FROM to_jsonb(OLD) - told
            OR NEW.handled_status NOT IN (OLD.handled_status, NEW.status)
            OR (NEW.status <> OLD.status AND NOT CASE NEW.status
                WHEN 'unmatched' THEN OLD.handled_status <> 'confirmed'
                WHEN 'confirmed' THEN OLD.status = 'unmatched' AND EXISTS (
                    SELECT FROM chain_block b JOIN chain_head h ON h.chain_id = b.chain_id
                    JOIN assets_chain c ON c.id = b.chain_id
                    WHERE b.chain_id = OLD.chain_id AND b.number = OLD.block_number
                        AND b.hash = OLD.block_hash AND b.is_canonical AND b.number <= h.number
                        AND (c.finality_tag = '' OR b.number <= coalesce(h.tagged_number,
                            h.number - c.tag_confirmations + 1))
                        AND (b.number + OLD.required_confirmations - 1 <= h.number
                            OR NOT c.counts_confirmations AND h.tagged_number IS NOT NULL))
                ELSE false END);
    END IF;
    IF is_refused THEN
        RAISE EXCEPTION 'permission denied for deposit %: the watcher alone writes what a chain has brought',
            NEW.id USING ERRCODE = '42501';
    END IF;
    RETURN NEW;
END $function$;

CREATE TRIGGER deposit_is_the_watchers BEFORE INSERT OR UPDATE ON chain_deposit FOR EACH ROW WHEN (COALESCE(NULLIF(current_setting('role'::text), 'none'::text), SESSION_USER::text) = ANY (ARRAY['tillgate_web'::text, 'tillgate_worker'::text])) EXECUTE FUNCTION chain_guard_deposit();
