"""Memo accounts of what came to merchants' own wallets: kinds of accounts that balance among
themselves, so that nothing of them is ever available.
"""

from django.db import migrations, models

_STORE = ["available", "held", "reserved"]
_SERVICE = [
    "custody_deposits",
    "custody_simulated",
    "custody_hot",
    "custody_cold",
    "service_fees",
    "network_fees",
    "offramp_clearing",
    "swap_clearing",
    "x402_clearing",
    "withdrawal_clearing",
    "treasury",
]
_MEMO = ["own_pending", "own_received", "own_fees_due"]
FORWARD = """
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

CREATE OR REPLACE FUNCTION ledger_check_entries()
 RETURNS trigger
 LANGUAGE plpgsql
 SET enable_seqscan TO 'off'
 SET enable_hashjoin TO 'off'
 SET enable_mergejoin TO 'off'
 SET search_path TO 'public', 'pg_temp'
AS $function$
DECLARE
    wrong text;
    going_down bigint[];
    last_id bigint;
    takes_held boolean;
    ends boolean;
    has_memo boolean;
    unbacked text;
    short bigint;
    long bigint[];
    robbed uuid;
    drawn_after bigint := nullif(current_setting('tillgate.last_entry', true), '')::bigint;
BEGIN
    SELECT CASE
               WHEN bool_or(leg.asset_id IS DISTINCT FROM leg.account_asset) THEN 'an entry is in another asset than its account'
               WHEN bool_or(leg.account_mode IS DISTINCT FROM leg.movement_mode) THEN 'an entry is in another mode than its movement'
               WHEN bool_or(leg.movement_xid <> pg_current_xact_id() OR age(leg.movement_xmin) > 0) THEN 'the movement was written by an earlier transaction'
               WHEN NOT coalesce(min(leg.id) > drawn_after, count(*) = 0) OR bool_or(leg.id <= leg.checkpoint_id)
                   THEN 'an entry bears an id that was not drawn for it'
               WHEN bool_or(leg.kind IN ('held', 'own_pending') AND leg.reference IS NULL) THEN 'what is held is held for a payment, and none is named'
           END,
           array_agg(DISTINCT leg.account_id) FILTER (WHERE leg.is_guarded AND leg.amount_atomic < 0), max(leg.id),
           bool_or(leg.kind IN ('held', 'own_pending') AND leg.amount_atomic < 0),
           bool_or(leg.kind IN ('reserved', 'offramp_clearing', 'x402_clearing', 'withdrawal_clearing') AND leg.amount_atomic < 0 AND leg.movement_kind <> 'correction'),
           bool_or(leg.kind LIKE 'own\\_%')
    INTO wrong, going_down, last_id, takes_held, ends, has_memo
    FROM (SELECT e.*, a.asset_id AS account_asset, a.mode AS account_mode, a.is_guarded, a.kind, a.checkpoint_id, m.xmin AS movement_xmin,
                 m.mode AS movement_mode, m.xid AS movement_xid, m.reference, m.kind AS movement_kind
          FROM added e LEFT JOIN ledger_account a ON a.id = e.account_id LEFT JOIN ledger_movement m ON m.id = e.movement_id) leg;
    IF wrong IS NULL AND EXISTS (SELECT 1 FROM added GROUP BY movement_id, asset_id HAVING sum(amount_atomic) <> 0) THEN
        wrong := 'a movement doesn''t sum to zero per asset';
    END IF;
    IF wrong IS NULL AND has_memo AND EXISTS (SELECT FROM added e JOIN ledger_account a ON a.id = e.account_id AND a.kind LIKE 'own\\_%'
            GROUP BY e.movement_id, e.asset_id HAVING sum(e.amount_atomic) <> 0) THEN
        wrong := 'coins that the service has never held balance among themselves';
    END IF;
    IF wrong IS NOT NULL THEN
        RAISE EXCEPTION '%', wrong USING ERRCODE = '23514';
    END IF;
    IF going_down IS NOT NULL THEN
        -- The check reads what was committed while the lock was waited for, which an older snapshot wouldn't show.
        IF current_setting('transaction_isolation') <> 'read committed' THEN
            RAISE EXCEPTION 'guarded accounts are debited in READ COMMITTED only' USING ERRCODE = '25001';
        END IF;
        PERFORM 1 FROM ledger_account WHERE id = ANY (going_down) ORDER BY id FOR NO KEY UPDATE;
        SELECT min(a.id) FILTER (WHERE a.checkpoint_atomic + least(tail.whole, tail.so_far) < 0),
               array_agg(a.id) FILTER (WHERE tail.length > 100 AND tail.length % 50 = 0)
        INTO short, long
        FROM ledger_account a, LATERAL (
            SELECT coalesce(sum(e.amount_atomic), 0) AS whole,
                   coalesce(sum(e.amount_atomic) FILTER (WHERE e.id <= last_id), 0) AS so_far, count(*) AS length
            FROM ledger_entry e WHERE e.account_id = a.id AND e.id > a.checkpoint_id) tail
        WHERE a.id = ANY (going_down);
        IF short IS NOT NULL THEN
            RAISE EXCEPTION 'insufficient balance on account %', short USING ERRCODE = 'TG001';
        END IF;
        IF takes_held THEN
            SELECT taken.reference INTO robbed
            FROM (SELECT DISTINCT e.account_id, m.reference FROM added e JOIN ledger_movement m ON m.id = e.movement_id
                  JOIN ledger_account a ON a.id = e.account_id WHERE a.kind IN ('held', 'own_pending') AND e.amount_atomic < 0) taken
            WHERE (SELECT sum(e.amount_atomic) FROM ledger_movement m JOIN ledger_entry e ON e.movement_id = m.id
                   WHERE m.reference = taken.reference AND e.account_id = taken.account_id) < 0 LIMIT 1;
            IF FOUND THEN
                RAISE EXCEPTION 'payment % holds less than that', robbed USING ERRCODE = 'TG001';
            END IF;
        END IF;
        -- An account that is debited without rest doesn't wait for the background job: its lock is held here anyhow, and every
        -- debit after this one reads that much less while others wait for it.
        IF long IS NOT NULL THEN
            PERFORM ledger_checkpoint(one) FROM unnest(long) AS one;
        END IF;
    END IF;
    IF ends THEN
        SELECT taken.key INTO unbacked
        FROM (SELECT DISTINCT e.account_id, m.reference, m.key FROM added e JOIN ledger_movement m ON m.id = e.movement_id
              JOIN ledger_account a ON a.id = e.account_id
              WHERE a.kind IN ('reserved', 'offramp_clearing', 'x402_clearing', 'withdrawal_clearing') AND e.amount_atomic < 0 AND m.kind <> 'correction') taken
        WHERE coalesce((
            SELECT sum(e.amount_atomic) FROM ledger_movement m JOIN ledger_entry e ON e.movement_id = m.id
            WHERE m.reference = taken.reference AND e.account_id = taken.account_id
                AND (split_part(split_part(m.key, ':', 1), '-', 1), split_part(m.key, ':', 2)) = (split_part(split_part(taken.key, ':', 1), '-', 1), split_part(taken.key, ':', 2))), -1) < 0 LIMIT 1;
        IF FOUND THEN
            RAISE EXCEPTION 'less than that is set aside for %', unbacked USING ERRCODE = 'TG001';
        END IF;
    END IF;
    RETURN NULL;
END $function$;
"""
BACKWARD = """
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
END $function$;

CREATE OR REPLACE FUNCTION ledger_check_entries()
 RETURNS trigger
 LANGUAGE plpgsql
 SET enable_seqscan TO 'off'
 SET enable_hashjoin TO 'off'
 SET enable_mergejoin TO 'off'
 SET search_path TO 'public', 'pg_temp'
AS $function$
DECLARE
    wrong text;
    going_down bigint[];
    last_id bigint;
    takes_held boolean;
    ends boolean;
    unbacked text;
    short bigint;
    long bigint[];
    robbed uuid;
    drawn_after bigint := nullif(current_setting('tillgate.last_entry', true), '')::bigint;
BEGIN
    SELECT CASE
               WHEN bool_or(leg.asset_id IS DISTINCT FROM leg.account_asset) THEN 'an entry is in another asset than its account'
               WHEN bool_or(leg.account_mode IS DISTINCT FROM leg.movement_mode) THEN 'an entry is in another mode than its movement'
               WHEN bool_or(leg.movement_xid <> pg_current_xact_id() OR age(leg.movement_xmin) > 0) THEN 'the movement was written by an earlier transaction'
               WHEN NOT coalesce(min(leg.id) > drawn_after, count(*) = 0) OR bool_or(leg.id <= leg.checkpoint_id)
                   THEN 'an entry bears an id that was not drawn for it'
               WHEN bool_or(leg.kind = 'held' AND leg.reference IS NULL) THEN 'what is held is held for a payment, and none is named'
           END,
           array_agg(DISTINCT leg.account_id) FILTER (WHERE leg.is_guarded AND leg.amount_atomic < 0), max(leg.id),
           bool_or(leg.kind = 'held' AND leg.amount_atomic < 0),
           bool_or(leg.kind IN ('reserved', 'offramp_clearing', 'x402_clearing', 'withdrawal_clearing') AND leg.amount_atomic < 0 AND leg.movement_kind <> 'correction')
    INTO wrong, going_down, last_id, takes_held, ends
    FROM (SELECT e.*, a.asset_id AS account_asset, a.mode AS account_mode, a.is_guarded, a.kind, a.checkpoint_id, m.xmin AS movement_xmin,
                 m.mode AS movement_mode, m.xid AS movement_xid, m.reference, m.kind AS movement_kind
          FROM added e LEFT JOIN ledger_account a ON a.id = e.account_id LEFT JOIN ledger_movement m ON m.id = e.movement_id) leg;
    IF wrong IS NULL AND EXISTS (SELECT 1 FROM added GROUP BY movement_id, asset_id HAVING sum(amount_atomic) <> 0) THEN
        wrong := 'a movement doesn''t sum to zero per asset';
    END IF;
    IF wrong IS NOT NULL THEN
        RAISE EXCEPTION '%', wrong USING ERRCODE = '23514';
    END IF;
    IF going_down IS NOT NULL THEN
        -- The check reads what was committed while the lock was waited for, which an older snapshot wouldn't show.
        IF current_setting('transaction_isolation') <> 'read committed' THEN
            RAISE EXCEPTION 'guarded accounts are debited in READ COMMITTED only' USING ERRCODE = '25001';
        END IF;
        PERFORM 1 FROM ledger_account WHERE id = ANY (going_down) ORDER BY id FOR NO KEY UPDATE;
        SELECT min(a.id) FILTER (WHERE a.checkpoint_atomic + least(tail.whole, tail.so_far) < 0),
               array_agg(a.id) FILTER (WHERE tail.length > 100 AND tail.length % 50 = 0)
        INTO short, long
        FROM ledger_account a, LATERAL (
            SELECT coalesce(sum(e.amount_atomic), 0) AS whole,
                   coalesce(sum(e.amount_atomic) FILTER (WHERE e.id <= last_id), 0) AS so_far, count(*) AS length
            FROM ledger_entry e WHERE e.account_id = a.id AND e.id > a.checkpoint_id) tail
        WHERE a.id = ANY (going_down);
        IF short IS NOT NULL THEN
            RAISE EXCEPTION 'insufficient balance on account %', short USING ERRCODE = 'TG001';
        END IF;
        IF takes_held THEN
            SELECT taken.reference INTO robbed
            FROM (SELECT DISTINCT e.account_id, m.reference FROM added e JOIN ledger_movement m ON m.id = e.movement_id
                  JOIN ledger_account a ON a.id = e.account_id WHERE a.kind = 'held' AND e.amount_atomic < 0) taken
            WHERE (SELECT sum(e.amount_atomic) FROM ledger_movement m JOIN ledger_entry e ON e.movement_id = m.id
                   WHERE m.reference = taken.reference AND e.account_id = taken.account_id) < 0 LIMIT 1;
            IF FOUND THEN
                RAISE EXCEPTION 'payment % holds less than that', robbed USING ERRCODE = 'TG001';
            END IF;
        END IF;
        -- An account that is debited without rest doesn't wait for the background job: its lock is held here anyhow, and every
        -- debit after this one reads that much less while others wait for it.
        IF long IS NOT NULL THEN
            PERFORM ledger_checkpoint(one) FROM unnest(long) AS one;
        END IF;
    END IF;
    IF ends THEN
        SELECT taken.key INTO unbacked
        FROM (SELECT DISTINCT e.account_id, m.reference, m.key FROM added e JOIN ledger_movement m ON m.id = e.movement_id
              JOIN ledger_account a ON a.id = e.account_id
              WHERE a.kind IN ('reserved', 'offramp_clearing', 'x402_clearing', 'withdrawal_clearing') AND e.amount_atomic < 0 AND m.kind <> 'correction') taken
        WHERE coalesce((
            SELECT sum(e.amount_atomic) FROM ledger_movement m JOIN ledger_entry e ON e.movement_id = m.id
            WHERE m.reference = taken.reference AND e.account_id = taken.account_id
                AND (split_part(split_part(m.key, ':', 1), '-', 1), split_part(m.key, ':', 2)) = (split_part(split_part(taken.key, ':', 1), '-', 1), split_part(taken.key, ':', 2))), -1) < 0 LIMIT 1;
        IF FOUND THEN
            RAISE EXCEPTION 'less than that is set aside for %', unbacked USING ERRCODE = 'TG001';
        END IF;
    END IF;
    RETURN NULL;
END $function$;
"""


_STORES = ("available", "held", "reserved", "own_pending", "own_received", "own_fees_due")
OWNER = models.Q(kind__in=_STORES, store__isnull=False) | (
    models.Q(store__isnull=True, kind__in=[*_SERVICE, "own_wallets"])
)
GUARD = models.Q(kind__in=_STORES, is_guarded=True) | (
    models.Q(is_guarded=False) & ~models.Q(kind__in=_STORES)
)


def _checks(stores: list[str], service: list[str]) -> str:
    both = ", ".join(f"'{kind}'" for kind in stores)
    others = ", ".join(f"'{kind}'" for kind in service)
    return f"""
ALTER TABLE ledger_account DROP CONSTRAINT account_owner_fits_kind,
    DROP CONSTRAINT account_guard_fits_kind,
    ADD CONSTRAINT account_owner_fits_kind CHECK (kind IN ({both}) AND store_id IS NOT NULL
        OR kind IN ({others}) AND store_id IS NULL) NOT VALID,
    ADD CONSTRAINT account_guard_fits_kind CHECK (is_guarded AND kind IN ({both})
        OR NOT is_guarded AND NOT kind IN ({both})) NOT VALID;
"""


class Migration(migrations.Migration):
    dependencies = [("ledger", "0008_a_function_a_movement")]

    operations = [
        migrations.RunSQL("SET LOCAL lock_timeout = '5s'", migrations.RunSQL.noop),
        migrations.SeparateDatabaseAndState(
            database_operations=[
                migrations.RunSQL(
                    _checks([*_STORE, *_MEMO], [*_SERVICE, "own_wallets"]),
                    _checks(_STORE, _SERVICE),
                )
            ],
            state_operations=[
                migrations.RemoveConstraint("account", "account_owner_fits_kind"),
                migrations.RemoveConstraint("account", "account_guard_fits_kind"),
                migrations.AddConstraint(
                    "account",
                    models.CheckConstraint(condition=OWNER, name="account_owner_fits_kind"),
                ),
                migrations.AddConstraint(
                    "account",
                    models.CheckConstraint(condition=GUARD, name="account_guard_fits_kind"),
                ),
                migrations.AlterField(
                    "account",
                    "kind",
                    models.CharField(
                        max_length=20,
                        choices=[
                            (kind, kind)
                            for kind in [*_STORE, *_SERVICE, "own_wallets", *_MEMO]
                        ],
                    ),
                ),
            ],
        ),
        migrations.RunSQL(FORWARD, BACKWARD),
    ]
