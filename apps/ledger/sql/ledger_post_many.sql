-- Posts many movements, each once per key, in one statement.
CREATE OR REPLACE FUNCTION ledger_post_many(p_keys text[], p_kinds text[], p_modes text[], p_references uuid[], p_ats timestamp with time zone[], p_of integer[], p_accounts bigint[], p_assets text[], p_amounts numeric[], p_roles text[], p_guarded bigint[])
 RETURNS bigint
 LANGUAGE plpgsql
AS $function$
DECLARE
    made_count bigint;
BEGIN
    IF p_guarded IS NOT NULL THEN
        PERFORM 1 FROM ledger_account WHERE id = ANY (p_guarded) ORDER BY id FOR NO KEY UPDATE;
    END IF;
    WITH asked AS (
        SELECT * FROM unnest(p_keys, p_kinds, p_modes, p_references, p_ats) WITH ORDINALITY AS one(key, kind, mode, reference, at, number)
    ), made AS (
        -- In the order of the keys, so that two batches that share some wait for each other and never in a circle.
        INSERT INTO ledger_movement (key, kind, mode, reference, reason, at)
        SELECT key, kind, mode, reference, '', at FROM asked ORDER BY key
        ON CONFLICT (key) DO NOTHING RETURNING id, key
    ), legs AS (
        INSERT INTO ledger_entry (movement_id, account_id, asset_id, amount_atomic, role)
        SELECT made.id, leg.account, leg.asset, leg.amount, leg.role
        FROM unnest(p_of, p_accounts, p_assets, p_amounts, p_roles) AS leg(number, account, asset, amount, role)
        JOIN asked ON asked.number = leg.number JOIN made ON made.key = asked.key
        ORDER BY asked.number
    )
    SELECT count(*) INTO made_count FROM made;
    RETURN made_count;
END $function$;
