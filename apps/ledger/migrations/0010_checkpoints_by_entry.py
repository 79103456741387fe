"""Checkpoints end at an entry instead of at a transaction number, which means something in one cluster alone.

Both kinds are understood here: an account whose checkpoint bears a transaction number keeps it until the next migration
has moved it. None is made anew meanwhile.
"""

from importlib import import_module

from django.db import migrations

COLUMNS = [
    "ALTER TABLE ledger_account ADD COLUMN checkpoint_id bigint DEFAULT 0 NOT NULL",
    # The newest entry that was seen, and a transaction that began later than whoever may have drawn a lower id.
    "ALTER TABLE ledger_account ADD COLUMN observed_id bigint DEFAULT 0 NOT NULL",
    "ALTER TABLE ledger_account ADD COLUMN observed_xid xid8 DEFAULT '0'::xid8 NOT NULL",
    # Its rows are rolled back as they are written: only the transaction that writes one counts.
    "CREATE UNLOGGED TABLE ledger_tick ()",
]

# Whoever debits an account folds it: at once, and not only when all migrations are through (apps/audit/grants.txt).
GRANT = """DO $$
DECLARE
    role name;
BEGIN
    FOR role IN SELECT rolname FROM pg_roles WHERE rolname IN ('tillgate_web', 'tillgate_worker') LOOP
        EXECUTE format('GRANT UPDATE (checkpoint_id) ON ledger_account TO %I', role);
    END LOOP;
END $$"""

# A transaction number that is higher than all that were drawn before: that of a subtransaction, which is rolled back.
FRESH = r"""CREATE FUNCTION ledger_fresh_transaction() RETURNS xid8
    LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp
    AS $$
DECLARE
    own bigint := pg_current_xact_id()::text::bigint;
    fresh bigint;
BEGIN
    BEGIN
        INSERT INTO ledger_tick DEFAULT VALUES RETURNING xmin::text::bigint INTO fresh;
        RAISE EXCEPTION 'its number is all that was wanted' USING ERRCODE = 'TG002';
    EXCEPTION WHEN SQLSTATE 'TG002' THEN
        NULL;
    END;
    RETURN (own + (fresh - own % 4294967296 + 4294967296) % 4294967296)::text::xid8;
END $$;"""

# Whether every other transaction that is older has ended. What it wrote is seen then, or is never there.
SETTLED = r"""CREATE FUNCTION ledger_is_settled(p_xid xid8) RETURNS boolean
    LANGUAGE sql STABLE
    AS $$
    SELECT pg_snapshot_xmax(seen) > p_xid AND NOT EXISTS (
        SELECT FROM pg_snapshot_xip(seen) running
        WHERE running < p_xid AND running IS DISTINCT FROM pg_current_xact_id_if_assigned())
    FROM pg_current_snapshot() seen
$$;"""

# The last entry of an account before which none can be committed any more.
SETTLED_UNTIL = r"""CREATE FUNCTION ledger_settled_until(p_account bigint) RETURNS bigint
    LANGUAGE plpgsql
    AS $$
DECLARE
    newest bigint;
    fresh xid8;
    account ledger_account;
BEGIN
    SELECT e.id INTO newest FROM ledger_entry e WHERE e.account_id = p_account ORDER BY e.id DESC LIMIT 1;
    fresh := ledger_fresh_transaction();
    IF newest IS NOT NULL AND ledger_is_settled(fresh) THEN
        RETURN newest;
    END IF;
    SELECT * INTO account FROM ledger_account WHERE id = p_account;
    RETURN CASE WHEN ledger_is_settled(account.observed_xid) THEN greatest(account.observed_id, account.checkpoint_id)
        ELSE account.checkpoint_id END;
END $$;"""

# Whoever writes entries has a transaction number before their ids are drawn, and draws them anew: see what follows. Every name is
# qualified, which costs each posting less than a path of its own.
BEGIN_ENTRIES = r"""CREATE FUNCTION ledger_begin_entries() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    AS $$
DECLARE
    own xid8;
    last_id text;
BEGIN
    own := pg_catalog.pg_current_xact_id();
    last_id := pg_catalog.set_config('tillgate.last_entry', coalesce(
        pg_catalog.pg_sequence_last_value('public.ledger_entry_id_seq'::pg_catalog.regclass), 0)::pg_catalog.text, true);
    RETURN NULL;
END $$;"""
BEGIN_TRIGGER = (
    "CREATE TRIGGER entry_begun BEFORE INSERT ON ledger_entry FOR EACH STATEMENT EXECUTE FUNCTION ledger_begin_entries();"
)

BALANCE = r"""CREATE OR REPLACE FUNCTION ledger_balance(p_account bigint) RETURNS numeric
    LANGUAGE sql STABLE
    AS $$
    SELECT a.checkpoint_atomic
         + coalesce((SELECT sum(e.amount_atomic) FROM ledger_entry e WHERE e.account_id = a.id AND e.id > a.checkpoint_id), 0)
    FROM ledger_account a WHERE a.id = p_account
$$;"""
BALANCE_OF_BOTH = r"""CREATE OR REPLACE FUNCTION ledger_balance(p_account bigint) RETURNS numeric
    LANGUAGE sql STABLE
    AS $$
    SELECT a.checkpoint_atomic + coalesce(CASE WHEN a.checkpoint_xid = '0'
        THEN (SELECT sum(e.amount_atomic) FROM ledger_entry e WHERE e.account_id = a.id AND e.id > a.checkpoint_id)
        ELSE (SELECT sum(e.amount_atomic) FROM ledger_entry e WHERE e.account_id = a.id AND e.xid >= a.checkpoint_xid) END, 0)
    FROM ledger_account a WHERE a.id = p_account
$$;"""

# Of an account only the checkpoint moves, only to what the entries say, and only up to an entry that was observed when no
# transaction still runs that may have drawn a lower id. What is observed is set here, whatever the writer says.
# The observation names a transaction of this cluster. In another one, where a dump or a replica has brought it, nobody runs who
# could still write a lower id: it counts as settled there, or as one to be made anew.
CHECK_ACCOUNT = r"""CREATE OR REPLACE FUNCTION ledger_check_account() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
DECLARE
    covered numeric;
    newest bigint;
BEGIN
    IF TG_OP = 'INSERT' THEN
        IF NEW.checkpoint_atomic <> 0 OR NEW.checkpoint_id <> 0 OR NEW.observed_id <> 0 OR NEW.checkpoint_xid <> '0' THEN
            RAISE EXCEPTION 'an account begins empty' USING ERRCODE = '23514';
        END IF;
        RETURN NEW;
    END IF;
    IF (NEW.id, NEW.store_id, NEW.mode, NEW.asset_id, NEW.kind, NEW.is_guarded)
       IS DISTINCT FROM (OLD.id, OLD.store_id, OLD.mode, OLD.asset_id, OLD.kind, OLD.is_guarded) THEN
        RAISE EXCEPTION 'an account is never changed' USING ERRCODE = '23001';
    END IF;
    IF NEW.checkpoint_xid <> OLD.checkpoint_xid THEN
        RAISE EXCEPTION 'the checkpoint of account % ends at an entry, not at a transaction', NEW.id USING ERRCODE = '23514';
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
# A transaction under way may still make one of the earlier kind; and one of the earlier kind becomes one of the new kind that
# covers the same and what was settled since.
CHECK_ACCOUNT_OF_BOTH = CHECK_ACCOUNT.replace(
    """    IF NEW.checkpoint_xid <> OLD.checkpoint_xid THEN
        RAISE EXCEPTION 'the checkpoint of account % ends at an entry, not at a transaction', NEW.id USING ERRCODE = '23514';
    END IF;
""",
    """    IF NEW.checkpoint_xid <> '0' AND NEW.checkpoint_id = 0 AND OLD.checkpoint_id = 0 THEN
        IF NEW.checkpoint_xid > pg_snapshot_xmin(pg_current_snapshot()) THEN
            RAISE EXCEPTION 'the checkpoint of account % covers running transactions', NEW.id USING ERRCODE = '23514';
        END IF;
        covered := CASE WHEN NEW.checkpoint_xid >= OLD.checkpoint_xid THEN OLD.checkpoint_atomic ELSE 0 END
            + coalesce((SELECT sum(e.amount_atomic) FROM ledger_entry e WHERE e.account_id = NEW.id AND e.xid < NEW.checkpoint_xid
                AND e.xid >= CASE WHEN NEW.checkpoint_xid >= OLD.checkpoint_xid THEN OLD.checkpoint_xid ELSE '0'::xid8 END), 0);
        IF NEW.checkpoint_atomic IS DISTINCT FROM covered THEN
            RAISE EXCEPTION 'the checkpoint of account % is not what its entries say', NEW.id USING ERRCODE = '23514';
        END IF;
        RETURN NEW;
    END IF;
    IF OLD.checkpoint_xid <> '0' AND NEW.checkpoint_xid = '0' AND NEW.checkpoint_id > 0 THEN
        covered := OLD.checkpoint_atomic
            + coalesce((SELECT sum(e.amount_atomic) FROM ledger_entry e WHERE e.account_id = NEW.id AND e.xid >= OLD.checkpoint_xid
                AND e.id <= NEW.checkpoint_id), 0)
            - coalesce((SELECT sum(e.amount_atomic) FROM ledger_entry e WHERE e.account_id = NEW.id AND e.id > NEW.checkpoint_id
                AND e.xid < OLD.checkpoint_xid), 0);
        IF NEW.checkpoint_atomic IS DISTINCT FROM covered THEN
            RAISE EXCEPTION 'the checkpoint of account % is not what its entries say', NEW.id USING ERRCODE = '23514';
        END IF;
        NEW.observed_id := NEW.checkpoint_id;
        NEW.observed_xid := '0';
        RETURN NEW;
    END IF;
    IF NEW.checkpoint_xid <> OLD.checkpoint_xid OR NEW.checkpoint_xid <> '0' THEN
        RAISE EXCEPTION 'the checkpoint of account % ends at an entry, not at a transaction', NEW.id USING ERRCODE = '23514';
    END IF;
""",
)

# Fold what nothing can be committed before any more into the checkpoint. What is found running then is folded the next time.
CHECKPOINT = r"""CREATE OR REPLACE FUNCTION ledger_checkpoint(p_account bigint) RETURNS void
    LANGUAGE plpgsql
    AS $$
DECLARE
    account ledger_account;
BEGIN
    SELECT * INTO account FROM ledger_account WHERE id = p_account FOR NO KEY UPDATE;
    IF account.observed_id > account.checkpoint_id AND NOT ledger_is_settled(account.observed_xid)
        AND account.observed_xid < pg_snapshot_xmax(pg_current_snapshot()) THEN
        RETURN;
    END IF;
    FOR attempt IN 1..2 LOOP
        UPDATE ledger_account a SET checkpoint_id = b.id, checkpoint_atomic = a.checkpoint_atomic + coalesce(
            (SELECT sum(e.amount_atomic) FROM ledger_entry e WHERE e.account_id = a.id AND e.id > a.checkpoint_id AND e.id <= b.id), 0)
        FROM (SELECT CASE WHEN ledger_is_settled(account.observed_xid) THEN greatest(account.observed_id, account.checkpoint_id)
            ELSE account.checkpoint_id END AS id) b
        WHERE a.id = p_account RETURNING a.* INTO account;
        EXIT WHEN account.observed_id <= account.checkpoint_id OR NOT ledger_is_settled(account.observed_xid);
    END LOOP;
END $$;"""
CHECKPOINT_OF_BOTH = CHECKPOINT.replace(
    "    IF account.observed_id >",
    "    IF account.checkpoint_xid <> '0' THEN\n        RETURN;\n    END IF;\n    IF account.observed_id >",
    1,
)

_TAIL = "            FROM ledger_entry e WHERE e.account_id = a.id AND e.xid >= a.checkpoint_xid) tail"


def _earlier(name: str) -> str:
    """A function as the migrations before this one made it."""
    first = import_module('apps.ledger.migrations.0001_squashed_0006_held_for_payments')
    return next(sql for sql in first.SQL if sql.startswith(f'CREATE FUNCTION {name}('))


def _changed(text: str, *changes: tuple[str, str]) -> str:
    for old, new in changes:
        assert text.count(old) == 1, old
        text = text.replace(old, new)
    return text


# An entry's id is drawn within its statement, after its transaction got a number: whoever observes it knows who may have drawn a
# lower one. A movement of another cluster may bear this transaction's number here: its row was written earlier than that.
CHECK_ENTRIES = _changed(
    _earlier('ledger_check_entries'),
    ('CREATE FUNCTION', 'CREATE OR REPLACE FUNCTION'),
    (
        "    robbed uuid;\n",
        "    robbed uuid;\n"
        "    drawn_after bigint := nullif(current_setting('tillgate.last_entry', true), '')::bigint;\n",
    ),
    (
        "               WHEN bool_or(leg.kind = 'held' AND leg.reference IS NULL)",
        "               WHEN NOT coalesce(min(leg.id) > drawn_after, count(*) = 0) OR bool_or(leg.id <= leg.checkpoint_id)\n"
        "                   THEN 'an entry bears an id that was not drawn for it'\n"
        "               WHEN bool_or(leg.kind = 'held' AND leg.reference IS NULL)",
    ),
    (
        "bool_or(leg.movement_xid <> pg_current_xact_id()) THEN",
        "bool_or(leg.movement_xid <> pg_current_xact_id() OR age(leg.movement_xmin) > 0) THEN",
    ),
    ("a.is_guarded, a.kind,\n", "a.is_guarded, a.kind, a.checkpoint_id, m.xmin AS movement_xmin,\n"),
    (_TAIL, "            FROM ledger_entry e WHERE e.account_id = a.id AND e.id > a.checkpoint_id) tail"),
)
CHECK_ENTRIES_OF_BOTH = _changed(
    CHECK_ENTRIES,
    (
        "            FROM ledger_entry e WHERE e.account_id = a.id AND e.id > a.checkpoint_id) tail",
        "            FROM (SELECT e.id, e.amount_atomic FROM ledger_entry e\n"
        "                  WHERE a.checkpoint_xid = '0' AND e.account_id = a.id AND e.id > a.checkpoint_id\n"
        "                  UNION ALL SELECT e.id, e.amount_atomic FROM ledger_entry e\n"
        "                  WHERE a.checkpoint_xid <> '0' AND e.account_id = a.id AND e.xid >= a.checkpoint_xid) e) tail",
    ),
)
OF_BOTH = [BALANCE_OF_BOTH, CHECK_ACCOUNT_OF_BOTH, CHECKPOINT_OF_BOTH, CHECK_ENTRIES_OF_BOTH]
BY_ENTRY = [BALANCE, CHECK_ACCOUNT, CHECKPOINT, CHECK_ENTRIES]

UNDO = [
    "UPDATE ledger_account SET checkpoint_id = 0, checkpoint_atomic = 0",
    "DROP TRIGGER entry_begun ON ledger_entry",
    *[
        _earlier(name).replace('CREATE FUNCTION', 'CREATE OR REPLACE FUNCTION')
        for name in ('ledger_balance', 'ledger_check_account', 'ledger_checkpoint', 'ledger_check_entries')
    ],
    "DROP FUNCTION ledger_begin_entries(), ledger_settled_until(bigint), ledger_is_settled(xid8), ledger_fresh_transaction()",
    "DROP TABLE ledger_tick",
    "ALTER TABLE ledger_account DROP COLUMN checkpoint_id, DROP COLUMN observed_id, DROP COLUMN observed_xid",
]


class Migration(migrations.Migration):

    dependencies = [
        ('ledger', '0009_entries_in_order'),
    ]

    operations = [
        migrations.RunSQL("SET LOCAL lock_timeout = '5s'", "SET LOCAL lock_timeout = '5s'"),
        migrations.RunSQL(
            [*COLUMNS, GRANT, FRESH, SETTLED, SETTLED_UNTIL, BEGIN_ENTRIES, BEGIN_TRIGGER, *OF_BOTH],
            UNDO,
        ),
    ]
