-- Refuses entries that don't sum to zero per asset, are of another asset, mode or transaction than
-- their account and movement, or take a guarded account, what a payment holds or what is set aside
-- for a record below zero, or mix what is in merchants' own wallets with what the service holds.
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
           bool_or(leg.kind LIKE 'own\_%')
    INTO wrong, going_down, last_id, takes_held, ends, has_memo
    FROM (SELECT e.*, a.asset_id AS account_asset, a.mode AS account_mode, a.is_guarded, a.kind, a.checkpoint_id, m.xmin AS movement_xmin,
                 m.mode AS movement_mode, m.xid AS movement_xid, m.reference, m.kind AS movement_kind
          FROM added e LEFT JOIN ledger_account a ON a.id = e.account_id LEFT JOIN ledger_movement m ON m.id = e.movement_id) leg;
    IF wrong IS NULL AND EXISTS (SELECT 1 FROM added GROUP BY movement_id, asset_id HAVING sum(amount_atomic) <> 0) THEN
        wrong := 'a movement doesn''t sum to zero per asset';
    END IF;
    IF wrong IS NULL AND has_memo AND EXISTS (SELECT FROM added e JOIN ledger_account a ON a.id = e.account_id AND a.kind LIKE 'own\_%'
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

CREATE TRIGGER entry_checked AFTER INSERT ON ledger_entry REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION ledger_check_entries();
