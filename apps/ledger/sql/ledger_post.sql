-- Posts a movement of any accounts once per key, in one round trip, after it has locked the guarded
-- accounts that go down. Who may insert movements may call it.
CREATE OR REPLACE FUNCTION ledger_post(p_key text, p_kind text, p_mode text, p_reference uuid, p_at timestamp with time zone, p_accounts bigint[], p_assets text[], p_amounts numeric[], p_roles text[], p_guarded bigint[], p_reason text DEFAULT ''::text, p_staff uuid DEFAULT NULL::uuid, OUT movement_id bigint, OUT is_new boolean)
 RETURNS record
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'public', 'pg_temp'
AS $function$
DECLARE
    poster text := coalesce(nullif(current_setting('role'), 'none'), session_user);
BEGIN
    IF NOT has_table_privilege(poster, 'ledger_movement', 'INSERT') THEN
        RAISE EXCEPTION 'permission denied for movement % (%): % posts nothing', p_key, p_kind, poster USING ERRCODE = '42501';
    END IF;

    IF p_guarded IS NOT NULL THEN
        PERFORM 1 FROM ledger_account WHERE id = ANY (p_guarded) ORDER BY id FOR NO KEY UPDATE;
    END IF;
    WITH made AS (
        INSERT INTO ledger_movement (key, kind, mode, reference, reason, staff_user_id, at)
        VALUES (p_key, p_kind, p_mode, p_reference, p_reason, p_staff, p_at)
        ON CONFLICT (key) DO NOTHING RETURNING id
    ), legs AS (
        INSERT INTO ledger_entry (movement_id, account_id, asset_id, amount_atomic, role)
        SELECT made.id, leg.account, leg.asset, leg.amount, leg.role
        FROM made, unnest(p_accounts, p_assets, p_amounts, p_roles) AS leg(account, asset, amount, role)
    )
    SELECT id, true INTO movement_id, is_new FROM made;
    IF movement_id IS NULL THEN
        SELECT id, false INTO movement_id, is_new FROM ledger_movement WHERE key = p_key;
    END IF;
END $function$;
