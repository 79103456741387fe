-- Refuses that a merchant's own wallet becomes another, or gives an address twice.
CREATE OR REPLACE FUNCTION chain_guard_own_wallet()
 RETURNS trigger
 LANGUAGE plpgsql
 SET search_path TO 'public', 'pg_temp'
AS $function$
BEGIN
    IF TG_OP = 'DELETE' OR NEW.next_index < OLD.next_index
        OR to_jsonb(NEW) - 'next_index' IS DISTINCT FROM to_jsonb(OLD) - 'next_index' THEN
        RAISE EXCEPTION 'permission denied for wallet %: it is never another, and gives no address twice', OLD.id
            USING ERRCODE = '42501';
    END IF;
    RETURN NEW;
END $function$;

CREATE TRIGGER own_wallet_is_kept BEFORE DELETE OR UPDATE ON chain_ownwallet FOR EACH ROW EXECUTE FUNCTION chain_guard_own_wallet();
