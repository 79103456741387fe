"""Entries and checkpoints bear no transaction number any more; a movement's is compared within its transaction."""

from django.db import migrations

CHECK_ACCOUNT = r"""CREATE OR REPLACE FUNCTION ledger_check_account()
 RETURNS trigger
 LANGUAGE plpgsql
AS $$
DECLARE
    covered numeric;
    newest bigint;
BEGIN
    IF TG_OP = 'INSERT' THEN
        IF NEW.checkpoint_atomic <> 0 OR NEW.checkpoint_id <> 0 OR NEW.observed_id <> 0 THEN
            RAISE EXCEPTION 'an account begins empty' USING ERRCODE = '23514';
        END IF;
        RETURN NEW;
    END IF;
    IF (NEW.id, NEW.store_id, NEW.mode, NEW.asset_id, NEW.kind, NEW.is_guarded)
       IS DISTINCT FROM (OLD.id, OLD.store_id, OLD.mode, OLD.asset_id, OLD.kind, OLD.is_guarded) THEN
        RAISE EXCEPTION 'an account is never changed' USING ERRCODE = '23001';
    END IF;
    IF (NEW.checkpoint_id, NEW.checkpoint_atomic) IS DISTINCT FROM (OLD.checkpoint_id, OLD.checkpoint_atomic) THEN
        IF NEW.checkpoint_id > OLD.checkpoint_id AND (NEW.checkpoint_id > OLD.observed_id OR NOT ledger_is_settled(OLD.observed_xid)) THEN
            RAISE EXCEPTION 'the checkpoint of account % covers running transactions', NEW.id USING ERRCODE = '23514';
        END IF;
        covered := CASE WHEN NEW.checkpoint_id >= OLD.checkpoint_id THEN OLD.checkpoint_atomic ELSE 0 END
            + coalesce((SELECT sum(e.amount_atomic) FROM ledger_entry e WHERE e.account_id = NEW.id AND e.id <= NEW.checkpoint_id
                AND e.id > CASE WHEN NEW.checkpoint_id >= OLD.checkpoint_id THEN OLD.checkpoint_id ELSE 0 END), 0);
        IF NEW.checkpoint_atomic IS DISTINCT FROM covered THEN
            RAISE EXCEPTION 'the checkpoint of account % is not what its entries say', NEW.id USING ERRCODE = '23514';
        END IF;
    END IF;
    IF OLD.observed_id > NEW.checkpoint_id AND OLD.observed_xid < pg_snapshot_xmax(pg_current_snapshot()) THEN
        NEW.observed_id := OLD.observed_id;
        NEW.observed_xid := OLD.observed_xid;
        RETURN NEW;
    END IF;
    SELECT e.id INTO newest FROM ledger_entry e WHERE e.account_id = NEW.id ORDER BY e.id DESC LIMIT 1;
    IF newest > NEW.checkpoint_id THEN
        NEW.observed_id := newest;
        NEW.observed_xid := ledger_fresh_transaction();
    ELSE
        NEW.observed_id := NEW.checkpoint_id;
        NEW.observed_xid := '0';
    END IF;
    RETURN NEW;
END $$;"""

CHECK_ENTRIES = r"""CREATE OR REPLACE FUNCTION ledger_check_entries()
 RETURNS trigger
 LANGUAGE plpgsql
 SET enable_seqscan TO 'off'
 SET enable_hashjoin TO 'off'
 SET enable_mergejoin TO 'off'
AS $$
DECLARE
    wrong text;
    going_down bigint[];
    last_id bigint;
    takes_held boolean;
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
           bool_or(leg.kind = 'held' AND leg.amount_atomic < 0)
    INTO wrong, going_down, last_id, takes_held
    FROM (SELECT e.*, a.asset_id AS account_asset, a.mode AS account_mode, a.is_guarded, a.kind, a.checkpoint_id, m.xmin AS movement_xmin,
                 m.mode AS movement_mode, m.xid AS movement_xid, m.reference
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
    RETURN NULL;
END $$;"""


class Migration(migrations.Migration):

    dependencies = [
        ('ledger', '0014_accounts_by_index'),
    ]

    operations = [
        migrations.RunSQL("SET LOCAL lock_timeout = '5s'"),
        migrations.RunSQL([CHECK_ACCOUNT, CHECK_ENTRIES]),
        migrations.RunSQL('ALTER TABLE ledger_entry DROP COLUMN xid'),
        migrations.RunSQL('ALTER TABLE ledger_account DROP COLUMN checkpoint_xid'),
        migrations.RunSQL('DROP FUNCTION ledger_rebuild_checkpoints()'),
    ]
