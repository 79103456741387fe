-- Posts one movement by kinds of accounts, for the functions of the owner that have read a record.
CREATE OR REPLACE FUNCTION ledger_book(p_key text, p_kind text, p_mode text, p_reference uuid, p_at timestamp with time zone, p_asset text, p_stores uuid[], p_kinds text[], p_amounts numeric[], p_roles text[], OUT movement_id bigint, OUT is_new boolean, OUT moved_atomic numeric)
 RETURNS record
 LANGUAGE plpgsql
 SET search_path TO 'public', 'pg_temp'
AS $function$
DECLARE
    modes text := current_setting('tillgate.modes', true);
    accounts bigint[];
    amounts numeric[];
    roles text[];
    guarded bigint[];
BEGIN
    IF (p_at BETWEEN '2000-01-01' AND '9000-01-01') IS NOT TRUE THEN
        RAISE EXCEPTION 'permission denied for movement % (%): it is at no time', p_key, p_kind USING ERRCODE = '42501';
    END IF;
    IF coalesce(nullif(current_setting('role'), 'none'), session_user) = 'tillgate_web' AND modes IS DISTINCT FROM '{all}' AND ((p_mode = ANY (nullif(modes, '')::text[])) IS NOT TRUE
        OR EXISTS (SELECT FROM unnest(p_stores) AS one (id) WHERE one.id IS NOT NULL
            AND (one.id = ANY (nullif(current_setting('tillgate.told', true), '')::uuid[])) IS NOT TRUE)) THEN
        RAISE EXCEPTION 'permission denied for movement % (%): an account is not in scope', p_key, p_kind USING ERRCODE = '42501';
    END IF;
    SELECT array_agg(leg.account), array_agg(leg.amount), array_agg(leg.role),
        array_agg(leg.account) FILTER (WHERE leg.is_guarded AND leg.amount < 0), -sum(leg.amount) FILTER (WHERE leg.amount < 0)
    INTO accounts, amounts, roles, guarded, moved_atomic
    FROM (
        SELECT ledger_account_id(CASE WHEN of_store THEN store END, p_mode, p_asset, kind, of_store) AS account, amount, role,
            of_store AS is_guarded
        FROM unnest(p_stores, p_kinds, p_amounts, p_roles) AS one (store, kind, amount, role),
            LATERAL (SELECT kind IN ('available', 'held', 'reserved', 'own_pending', 'own_received', 'own_fees_due') AS of_store) AS owner
        WHERE amount <> 0
    ) leg;
    IF guarded IS NOT NULL THEN
        PERFORM 1 FROM ledger_account WHERE id = ANY (guarded) ORDER BY id FOR NO KEY UPDATE;
    END IF;
    WITH made AS (
        INSERT INTO ledger_movement (key, kind, mode, reference, reason, at)
        VALUES (p_key, p_kind, p_mode, p_reference, '', p_at)
        ON CONFLICT (key) DO NOTHING RETURNING id
    ), legs AS (
        INSERT INTO ledger_entry (movement_id, account_id, asset_id, amount_atomic, role)
        SELECT made.id, leg.account, p_asset, leg.amount, leg.role
        FROM made, unnest(accounts, amounts, roles) AS leg (account, amount, role)
    )
    SELECT id, true INTO movement_id, is_new FROM made;
    IF movement_id IS NULL THEN
        SELECT id, false INTO movement_id, is_new FROM ledger_movement WHERE key = p_key;
    END IF;
END $function$;
