"""Nothing ends a reservation that isn't there: what is set aside for a payout, refund, swap, draw or
withdrawal never goes below zero for that record, whatever else its account holds.

Web and workers write these records. One that nothing was set aside for would be given back, or
spent, out of the reservation of another.
"""

from django.db import migrations

# The first word of a key is the kind of record, and the part after it the record's ID.
_RECORD = "split_part(split_part({0}.key, ':', 1), '-', 1), split_part({0}.key, ':', 2)"
_KINDS = "('reserved', 'offramp_clearing', 'x402_clearing', 'withdrawal_clearing')"
_NEW = {
    "@ENDS@": f""",
           bool_or(leg.kind IN {_KINDS} AND leg.amount_atomic < 0 AND leg.movement_kind <> 'correction')""",
    "@INTO@": ", ends",
    "@KIND@": ", m.kind AS movement_kind",
    "@DECLARED@": """    ends boolean;
    unbacked text;
""",
    "@CHECK@": f"""    IF ends THEN
        SELECT taken.key INTO unbacked
        FROM (SELECT DISTINCT e.account_id, m.reference, m.key FROM added e JOIN ledger_movement m ON m.id = e.movement_id
              JOIN ledger_account a ON a.id = e.account_id
              WHERE a.kind IN {_KINDS} AND e.amount_atomic < 0 AND m.kind <> 'correction') taken
        WHERE coalesce((
            SELECT sum(e.amount_atomic) FROM ledger_movement m JOIN ledger_entry e ON e.movement_id = m.id
            WHERE m.reference = taken.reference AND e.account_id = taken.account_id
                AND ({_RECORD.format("m")}) = ({_RECORD.format("taken")})), -1) < 0 LIMIT 1;
        IF FOUND THEN
            RAISE EXCEPTION 'less than that is set aside for %', unbacked USING ERRCODE = 'TG001';
        END IF;
    END IF;
""",
}
_CHECK = """
CREATE OR REPLACE FUNCTION ledger_check_entries()
 RETURNS trigger
 LANGUAGE plpgsql
 SET enable_seqscan TO 'off'
 SET enable_hashjoin TO 'off'
 SET enable_mergejoin TO 'off'
 SET search_path TO 'public', 'pg_temp'
AS $$
DECLARE
    wrong text;
    going_down bigint[];
    last_id bigint;
    takes_held boolean;
@DECLARED@    short bigint;
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
           bool_or(leg.kind = 'held' AND leg.amount_atomic < 0)@ENDS@
    INTO wrong, going_down, last_id, takes_held@INTO@
    FROM (SELECT e.*, a.asset_id AS account_asset, a.mode AS account_mode, a.is_guarded, a.kind, a.checkpoint_id, m.xmin AS movement_xmin,
                 m.mode AS movement_mode, m.xid AS movement_xid, m.reference@KIND@
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
@CHECK@    RETURN NULL;
END $$;
"""


def _function(parts: dict[str, str]) -> str:
    text = _CHECK
    for name in _NEW:
        text = text.replace(name, parts.get(name, ""))
    return text


class Migration(migrations.Migration):
    dependencies = [("ledger", "0006_reservations_by_kind")]

    operations = [
        migrations.RunSQL("SET LOCAL lock_timeout = '5s'", migrations.RunSQL.noop),
        migrations.RunSQL(_function(_NEW), _function({})),
    ]
