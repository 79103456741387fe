"""The web posts each of its movements by a function of that movement, which the app of its record
has: it takes the record's ID, and reads accounts and amounts from rows. `ledger_book` is what they
have in common, and nobody else's; `ledger_post`, which takes any accounts, is a worker's.
"""

from django.db import migrations

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
POST = f"""
CREATE OR REPLACE FUNCTION ledger_post({_ARGUMENTS}) RETURNS record
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
DECLARE
    poster text := {_ROLE};
BEGIN
    IF NOT has_table_privilege(poster, 'ledger_movement', 'INSERT') THEN
        RAISE EXCEPTION 'permission denied for movement % (%): % posts nothing', p_key, p_kind, poster USING ERRCODE = '42501';
    END IF;
{_POSTS}"""
# As it was, for the way back.
POST_BEFORE = f"""
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
{_POSTS}"""
# Legs of zero are left out. `moved_atomic` is what has left accounts.
BOOK = f"""
CREATE OR REPLACE FUNCTION ledger_book(p_key text, p_kind text, p_mode text, p_reference uuid, p_at timestamp with time zone,
    p_asset text, p_stores uuid[], p_kinds text[], p_amounts numeric[], p_roles text[],
    OUT movement_id bigint, OUT is_new boolean, OUT moved_atomic numeric) RETURNS record
LANGUAGE plpgsql SET search_path = public, pg_temp AS $$
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
    IF {_ROLE} = 'tillgate_web' AND modes IS DISTINCT FROM '{{all}}' AND ((p_mode = ANY (nullif(modes, '')::text[])) IS NOT TRUE
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
            LATERAL (SELECT kind IN ('available', 'held', 'reserved') AS of_store) AS owner
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
END $$;
"""
# The second line: whatever may insert for the web, these kinds alone.
CHECK_WEB = """
CREATE OR REPLACE FUNCTION ledger_check_web() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
DECLARE
    wrong record;
BEGIN
    SELECT m.key, m.kind INTO wrong FROM added JOIN ledger_movement m ON m.id = added.movement_id
    WHERE m.kind NOT IN ('payout_created', 'payout_released', 'payout_gas_charged', 'swap_created', 'x402_settled', 'refund_created',
        'transfer_return_created', 'deposit_confirmed', 'payment_settled', 'overpayment_settled', 'late_deposit_accepted',
        'withdrawal_created') AND (m.kind <> 'simulated_deposit_changed' OR m.mode <> 'test') LIMIT 1;
    IF FOUND THEN
        RAISE EXCEPTION 'permission denied for movement % (%): the web posts no such movement', wrong.key, wrong.kind
            USING ERRCODE = '42501';
    END IF;
    RETURN NULL;
END $$;
"""
CHECK_WEB_BEFORE = """
CREATE OR REPLACE FUNCTION ledger_check_web()
 RETURNS trigger
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'public', 'pg_temp'
AS $$
DECLARE
    made record;
    allowed record;
    wrong text;
BEGIN
    FOR made IN
        SELECT m.id, m.key, m.kind, m.mode, m.reference, m.reason, m.staff_user_id,
            split_part(m.key, ':', 1) AS name, split_part(m.key, ':', 2) AS subject,
            legs.asset_id, legs.assets, legs.amount, legs.sides, legs.accounts, legs.owners, legs.payer,
            p.store_id AS payment_store, p.mode AS payment_mode, p.platform_id
        FROM (SELECT DISTINCT movement_id FROM added) one
        JOIN ledger_movement m ON m.id = one.movement_id
        CROSS JOIN LATERAL (
            SELECT min(leg.asset_id) AS asset_id, count(DISTINCT leg.asset_id) AS assets, max(leg.amount) AS amount,
                array_agg(DISTINCT leg.side || leg.kind) AS sides,
                array_agg(leg.account_id) FILTER (WHERE leg.store_id IS NOT NULL) AS accounts,
                array_agg(DISTINCT leg.store_id) FILTER (WHERE leg.store_id IS NOT NULL) AS owners,
                min(leg.store_id::text) FILTER (WHERE leg.kind <> 'available' OR leg.amount < 0)::uuid AS payer
            FROM (
                SELECT a.id AS account_id, a.kind, a.store_id, a.asset_id, sum(e.amount_atomic) AS amount,
                    CASE WHEN sum(e.amount_atomic) < 0 THEN '-' ELSE '+' END AS side
                FROM ledger_entry e JOIN ledger_account a ON a.id = e.account_id
                WHERE e.movement_id = m.id GROUP BY a.id
            ) leg
        ) legs
        LEFT JOIN payments_payment p ON p.id = m.reference
    LOOP
        SELECT rule.sides, rule.subject INTO allowed FROM (VALUES
            ('payout_created', 'payout', ARRAY['-available', '+reserved'], 'reference', 2),
            ('payout_released', 'payout-released', ARRAY['-reserved', '+available'], 'payout', 2),
            ('payout_handed_back', 'payout-handed-back', ARRAY['-offramp_clearing', '+reserved'], 'handed', 3),
            ('payout_gas_charged', 'payout-gas-charged', ARRAY['-available', '+network_fees'], 'reference', 3),
            ('swap_created', 'swap', ARRAY['-available', '+reserved'], 'reference', 2),
            ('x402_settled', 'x402', ARRAY['-available', '+x402_clearing'], 'reference', 2),
            ('refund_created', 'refund', ARRAY['-available', '-held', '+reserved'], 'refund', 2),
            ('transfer_return_created', 'refund', ARRAY['-held', '+reserved'], 'refund', 2),
            ('payment_settled', 'settle', ARRAY['-held', '+available', '+service_fees'], 'payment', 3),
            ('overpayment_settled', 'settle', ARRAY['-held', '+available', '+service_fees'], 'payment', 4),
            ('late_deposit_accepted', 'settle-late', ARRAY['-held', '+available', '+service_fees'], 'payment', 2),
            ('deposit_confirmed', 'deposit', ARRAY['-custody_deposits', '+held'], 'deposit', 2),
            ('deposit_confirmed', 'deposit', ARRAY['-custody_simulated', '+held'], 'simulated', 2),
            ('simulated_deposit_changed', 'deposit', ARRAY['-custody_simulated', '+custody_simulated', '-held', '+held'], 'simulated', 3),
            ('withdrawal_created', 'withdrawal', ARRAY['-service_fees', '+withdrawal_clearing'], 'withdrawal', 2),
            ('cold_returned', 'cold-returned', ARRAY['-custody_hot', '+custody_cold'], 'service', 3),
            ('correction', 'correction', made.sides, 'correction', 0)
        ) AS rule (kind, name, sides, subject, parts)
        WHERE rule.kind = made.kind AND rule.name = made.name AND made.sides <@ rule.sides
            AND rule.parts IN (0, cardinality(string_to_array(made.key, ':')));
        -- One store's, and the share of the platform that its payment names.
        wrong := CASE
            WHEN allowed IS NULL THEN 'the web posts no such movement'
            WHEN made.assets > 1 THEN 'it is of one asset'
            WHEN NOT EXISTS (SELECT FROM ledger_movement WHERE id = made.id AND at BETWEEN '2000-01-01' AND '9000-01-01')
                THEN 'it is at no time'
            WHEN allowed.subject IN ('service', 'withdrawal') AND made.owners IS NOT NULL THEN 'it is of the service alone'
            WHEN allowed.subject NOT IN ('service', 'withdrawal', 'correction') AND made.payer IS NULL
                THEN 'it is of one store'
            WHEN allowed.subject NOT IN ('service', 'correction') AND made.subject !~ '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$'
                THEN 'its key names no record'
            WHEN allowed.subject IN ('reference', 'payout', 'handed', 'withdrawal')
                AND made.reference::text IS DISTINCT FROM made.subject THEN 'its key names another record'
            WHEN allowed.subject IN ('payment', 'refund', 'deposit', 'simulated')
                AND (made.payment_store, made.payment_mode) IS DISTINCT FROM (made.payer, made.mode)
                THEN 'it is not of this payment'
            WHEN allowed.subject NOT IN ('service', 'withdrawal', 'correction') AND (array_remove(made.owners, made.payer) <> ARRAY[]::uuid[])
                AND (allowed.subject <> 'payment' OR array_remove(array_remove(made.owners, made.payer), made.platform_id) <> ARRAY[]::uuid[])
                THEN 'it is of one store'
            END;
        IF wrong IS NULL THEN
            wrong := CASE allowed.subject
            WHEN 'deposit' THEN CASE WHEN NOT EXISTS (
                SELECT FROM chain_deposit d
                JOIN chain_block b ON b.chain_id = d.chain_id AND b.number = d.block_number AND b.hash = d.block_hash AND b.is_canonical
                JOIN payments_paymentaddress w ON w.address_id = d.address_id
                JOIN payments_payment p ON p.id = w.payment_id AND p.store_id = made.payer AND p.mode = made.mode
                WHERE d.id = made.subject::uuid AND d.status = 'confirmed' AND NOT d.is_simulated AND NOT d.is_lost
                    AND d.asset_id = made.asset_id AND d.amount_atomic = made.amount
                ) THEN 'no chain has brought this' END
            -- The web simulates coins of test mode alone (chain_guard_deposit).
            WHEN 'simulated' THEN CASE WHEN made.mode <> 'test' OR NOT EXISTS (
                SELECT FROM chain_deposit d JOIN payments_paymentaddress w ON w.address_id = d.address_id
                JOIN payments_payment p ON p.id = w.payment_id AND p.store_id = made.payer AND p.mode = made.mode
                WHERE d.id = made.subject::uuid AND d.is_simulated AND d.asset_id = made.asset_id
                ) THEN 'nobody has simulated this' END
            -- What was set aside for it, as far as it is there, and nothing is on its way.
            WHEN 'payout' THEN CASE WHEN coalesce((
                SELECT sum(e.amount_atomic) FROM ledger_movement m JOIN ledger_entry e ON e.movement_id = m.id
                JOIN ledger_account a ON a.id = e.account_id
                WHERE m.reference = made.reference AND m.kind LIKE 'payout%' AND a.kind = 'reserved' AND a.id = ANY (made.accounts)
                ), -1) < 0 OR NOT EXISTS (SELECT FROM ledger_movement WHERE reference = made.reference AND kind = 'payout_handed_over')
                AND EXISTS (SELECT FROM chain_outgoingtransaction o WHERE o.purpose = 'payout' AND o.status <> 'failed'
                    AND o.reference >= made.subject || '-' AND o.reference < made.subject || '.')
                THEN 'it may be on its way' END
            WHEN 'handed' THEN CASE WHEN NOT EXISTS (
                SELECT FROM ledger_movement m JOIN ledger_entry e ON e.movement_id = m.id AND e.account_id = ANY (made.accounts)
                WHERE m.key = 'payout-handed-over:' || made.subject || ':' || split_part(made.key, ':', 3)
                    AND e.amount_atomic = -made.amount
                ) OR EXISTS (SELECT FROM ledger_movement WHERE key = 'payout-settled:' || made.subject)
                THEN 'it was not handed over' END
            WHEN 'withdrawal' THEN CASE WHEN NOT EXISTS (
                SELECT FROM payments_withdrawal w WHERE w.id = made.subject::uuid AND w.asset_id = made.asset_id
                    AND w.amount_atomic = made.amount AND w.status IN ('requested', 'approved')
                ) THEN 'nobody has asked for this' END
            -- What two have decided, to the letter; or coins that came to a hot wallet, which are no store's.
            WHEN 'correction' THEN CASE WHEN NOT (made.key LIKE 'correction:funding:%'
                    AND made.sides <@ ARRAY['+treasury', '-custody_hot']) AND NOT EXISTS (
                SELECT FROM stores_staffrequest s, LATERAL (SELECT s.content::jsonb -> 'wanted' AS facts) w
                WHERE s.kind = 'correction' AND s.state = 'approved' AND s.asked_by_id = made.staff_user_id
                    AND 'correction:' || (w.facts ->> 'key') = made.key AND w.facts ->> 'mode' = made.mode
                    AND w.facts ->> 'asset' = made.asset_id
                    AND (w.facts ->> 'payment') IS NOT DISTINCT FROM made.reference::text
                    AND (SELECT count(*) FILTER (WHERE a.kind = w.facts ->> 'account'
                            AND a.store_id::text IS NOT DISTINCT FROM w.facts ->> 'store'
                            AND e.amount_atomic = (w.facts ->> 'amount_atomic')::numeric) = 1
                            AND count(*) FILTER (WHERE a.kind = 'treasury') = 1 AND count(*) = 2
                        FROM ledger_entry e JOIN ledger_account a ON a.id = e.account_id WHERE e.movement_id = made.id)
                ) THEN 'two members of staff have decided nothing of the kind' END
            END;
        END IF;
        IF wrong IS NOT NULL THEN
            RAISE EXCEPTION 'permission denied for movement % (%): %', made.key, made.kind, wrong USING ERRCODE = '42501';
        END IF;
    END LOOP;
    RETURN NULL;
END $$;
"""


class Migration(migrations.Migration):
    dependencies = [("ledger", "0007_reservations_by_record")]

    operations = [
        migrations.RunSQL("SET LOCAL lock_timeout = '5s'", migrations.RunSQL.noop),
        migrations.RunSQL(POST, POST_BEFORE),
        migrations.RunSQL(
            BOOK,
            "DROP FUNCTION ledger_book(text, text, text, uuid, timestamptz, text, uuid[], text[],"
            " numeric[], text[])",
        ),
        migrations.RunSQL(CHECK_WEB, CHECK_WEB_BEFORE),
    ]
