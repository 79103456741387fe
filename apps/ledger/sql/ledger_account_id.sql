-- Finds an account, and makes it on first use.
CREATE OR REPLACE FUNCTION ledger_account_id(p_store uuid, p_mode text, p_asset text, p_kind text, p_is_guarded boolean)
 RETURNS bigint
 LANGUAGE plpgsql
AS $function$
DECLARE
    found_id bigint;
BEGIN
    LOOP
        IF p_store IS NULL THEN
            SELECT id INTO found_id FROM ledger_account
            WHERE store_id IS NULL AND mode = p_mode AND asset_id = p_asset AND kind = p_kind;
        ELSE
            SELECT id INTO found_id FROM ledger_account
            WHERE store_id = p_store AND mode = p_mode AND asset_id = p_asset AND kind = p_kind;
        END IF;
        EXIT WHEN found_id IS NOT NULL;
        INSERT INTO ledger_account (store_id, mode, asset_id, kind, is_guarded, checkpoint_atomic)
        VALUES (p_store, p_mode, p_asset, p_kind, p_is_guarded, 0) ON CONFLICT DO NOTHING;
    END LOOP;
    RETURN found_id;
END $function$;
