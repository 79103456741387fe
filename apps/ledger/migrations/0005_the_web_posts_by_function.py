"""The web writes entries through the one function that posts, and has no right to insert them. The
function acts as the owner of the tables, for the web and for whoever may insert.
"""

from django.db import migrations

# `role` is what a session has set itself to; who hasn't is who has signed in. In a function of the
# owner current_user would be the owner.
_ROLE = "coalesce(nullif(current_setting('role'), 'none'), session_user)"
_ARGUMENTS = """p_key text, p_kind text, p_mode text, p_reference uuid,
    p_at timestamp with time zone, p_accounts bigint[], p_assets text[], p_amounts numeric[], p_roles text[], p_guarded bigint[],
    p_reason text DEFAULT ''::text, p_staff uuid DEFAULT NULL::uuid, OUT movement_id bigint, OUT is_new boolean"""
_POSTS = """
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
END $$;
"""
# The web posts to accounts that its scope shows it: the policy of ledger_account, which holds nobody
# in a function of the owner.
FORWARD = f"""
CREATE OR REPLACE FUNCTION ledger_post({_ARGUMENTS}) RETURNS record
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
DECLARE
    poster text := {_ROLE};
    modes text := current_setting('tillgate.modes', true);
BEGIN
    IF poster = 'tillgate_web' THEN
        IF modes IS DISTINCT FROM '{{all}}' AND EXISTS (
            SELECT FROM unnest(p_accounts) AS one (id) LEFT JOIN ledger_account a ON a.id = one.id
            WHERE (a.mode = ANY (nullif(modes, '')::text[]) AND (a.store_id IS NULL
                OR a.store_id = ANY (nullif(current_setting('tillgate.told', true), '')::uuid[]))) IS NOT TRUE) THEN
            RAISE EXCEPTION 'permission denied for movement % (%): an account is not in scope', p_key, p_kind
                USING ERRCODE = '42501';
        END IF;
    ELSIF NOT has_table_privilege(poster, 'ledger_movement', 'INSERT') THEN
        RAISE EXCEPTION 'permission denied for movement % (%): % posts nothing', p_key, p_kind, poster USING ERRCODE = '42501';
    END IF;
""" + _POSTS
BACKWARD = f"""
CREATE OR REPLACE FUNCTION ledger_post({_ARGUMENTS}) RETURNS record
LANGUAGE plpgsql AS $$
BEGIN
""" + _POSTS


class Migration(migrations.Migration):
    dependencies = [("ledger", "0004_fixed_search_path")]

    operations = [
        migrations.RunSQL("SET LOCAL lock_timeout = '5s'", migrations.RunSQL.noop),
        migrations.RunSQL(FORWARD, BACKWARD),
    ]
