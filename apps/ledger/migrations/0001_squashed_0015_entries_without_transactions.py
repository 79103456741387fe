"""Everything until 0015_entries_without_transactions in one step; SQL that Django does not generate follows, as PostgreSQL prints it."""

import apps.core.models
import django.db.models.deletion
from apps.core.db.first_tables import FirstTables
from django.conf import settings
from django.db import migrations, models

# What PostgreSQL itself does and refuses for the ledger, for whoever writes.
# Error codes: 23001 append-only, 23514 a rule of the books is broken, 25001 wrong isolation level, TG001 insufficient balance.
SQL = [
    r"""ALTER TABLE ledger_account ADD COLUMN checkpoint_id bigint DEFAULT 0 NOT NULL;""",
    # The newest entry that was seen, and a transaction that began later than whoever may have drawn a lower id.
    r"""ALTER TABLE ledger_account ADD COLUMN observed_id bigint DEFAULT 0 NOT NULL;""",
    r"""ALTER TABLE ledger_account ADD COLUMN observed_xid xid8 DEFAULT '0'::xid8 NOT NULL;""",
    # Compared within its transaction alone: it means nothing in another cluster.
    r"""ALTER TABLE ledger_movement ADD COLUMN xid xid8 DEFAULT pg_current_xact_id() NOT NULL;""",
    # Its rows are rolled back as they are written: only the transaction that writes one counts.
    r"""CREATE UNLOGGED TABLE ledger_tick (
);""",
    # The account of an owner, mode, asset and kind; made when it is missing. Found by its index, which IS NOT DISTINCT FROM doesn't go down.
    r"""CREATE FUNCTION ledger_account_id(p_store uuid, p_mode text, p_asset text, p_kind text, p_is_guarded boolean) RETURNS bigint
    LANGUAGE plpgsql
    AS $$
DECLARE
    found_id bigint;
BEGIN
    LOOP
        IF p_store IS NULL THEN
            SELECT id INTO found_id FROM ledger_account
            WHERE store_id IS NULL AND mode = p_mode AND asset_id = p_asset AND kind = p_kind;
        ELSE
            SELECT id INTO found_id FROM ledger_account
            WHERE store_id = p_store AND mode = p_mode AND asset_id = p_asset AND kind = p_kind;
        END IF;
        EXIT WHEN found_id IS NOT NULL;
        INSERT INTO ledger_account (store_id, mode, asset_id, kind, is_guarded, checkpoint_atomic)
        VALUES (p_store, p_mode, p_asset, p_kind, p_is_guarded, 0) ON CONFLICT DO NOTHING;
    END LOOP;
    RETURN found_id;
END $$;""",
    # A balance is the checkpoint and every entry after it.
    r"""CREATE FUNCTION ledger_balance(p_account bigint) RETURNS numeric
    LANGUAGE sql STABLE
    AS $$
    SELECT a.checkpoint_atomic
         + coalesce((SELECT sum(e.amount_atomic) FROM ledger_entry e WHERE e.account_id = a.id AND e.id > a.checkpoint_id), 0)
    FROM ledger_account a WHERE a.id = p_account
$$;""",
    # Whoever writes entries has a transaction number before their ids are drawn, and draws them anew: see what checks them. Every name is
    # qualified, which costs each posting less than a path of its own.
    r"""CREATE FUNCTION ledger_begin_entries() RETURNS trigger
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
END $$;""",
    # Of an account only the checkpoint moves, only to what the entries say, and only up to an entry that was observed when no
    # transaction still runs that may have drawn a lower id. What is observed is set here, whatever the writer says.
    # The observation names a transaction of this cluster. In another one, where a dump or a replica has brought it, nobody runs who
    # could still write a lower id: it counts as settled there, or as one to be made anew.
    r"""CREATE FUNCTION ledger_check_account() RETURNS trigger
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
END $$;""",
    # The entries of one statement: balanced per asset, of one mode, of this transaction's movement; guarded accounts stay covered.
    # A guarded balance must hold both over everything and up to the new entries, so that no prefix of the history is below zero.
    # What is held is held for a payment, the movement's reference: none takes what another payment brought.
    # An entry's id is drawn within its statement, after its transaction got a number: whoever observes it knows who may have drawn a
    # lower one. A movement of another cluster may bear this transaction's number here: its row was written earlier than that.
    # Its plans go by index whatever the statistics say: a plan made while the tables were small would read them whole ever after.
    r"""CREATE FUNCTION ledger_check_entries() RETURNS trigger
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
END $$;""",
    # A movement without entries is none, and none is written in another transaction's name.
    r"""CREATE FUNCTION ledger_check_movement() RETURNS trigger
    LANGUAGE plpgsql
    SET enable_seqscan TO 'off'
    AS $$
BEGIN
    IF NEW.xid <> pg_current_xact_id() OR NOT EXISTS (SELECT 1 FROM ledger_entry WHERE movement_id = NEW.id) THEN
        RAISE EXCEPTION 'movement % has no entries', NEW.id USING ERRCODE = '23514';
    END IF;
    RETURN NULL;
END $$;""",
    # Fold what nothing can be committed before any more into the checkpoint. What is found running then is folded the next time.
    r"""CREATE FUNCTION ledger_checkpoint(p_account bigint) RETURNS void
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
END $$;""",
    # A transaction number that is higher than all that were drawn before: that of a subtransaction, which is rolled back.
    r"""CREATE FUNCTION ledger_fresh_transaction() RETURNS xid8
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
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
END $$;""",
    # Whether every other transaction that is older has ended. What it wrote is seen then, or is never there.
    r"""CREATE FUNCTION ledger_is_settled(p_xid xid8) RETURNS boolean
    LANGUAGE sql STABLE
    AS $$
    SELECT pg_snapshot_xmax(seen) > p_xid AND NOT EXISTS (
        SELECT FROM pg_snapshot_xip(seen) running
        WHERE running < p_xid AND running IS DISTINCT FROM pg_current_xact_id_if_assigned())
    FROM pg_current_snapshot() seen
$$;""",
    # The one function that posts: once per key; a later call with the key answers the first one's movement and posts nothing.
    # p_guarded are the guarded accounts that go down: locked before entry ids are drawn, so that ids follow the order of the debits.
    r"""CREATE FUNCTION ledger_post(p_key text, p_kind text, p_mode text, p_reference uuid, p_at timestamp with time zone, p_accounts bigint[], p_assets text[], p_amounts numeric[], p_roles text[], p_guarded bigint[], p_reason text DEFAULT ''::text, p_staff uuid DEFAULT NULL::uuid, OUT movement_id bigint, OUT is_new boolean) RETURNS record
    LANGUAGE plpgsql
    AS $$
BEGIN
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
END $$;""",
    # The same for many movements in one statement; p_of says to which of the keys (from 1) a leg belongs. Answers how many were new.
    r"""CREATE FUNCTION ledger_post_many(p_keys text[], p_kinds text[], p_modes text[], p_references uuid[], p_ats timestamp with time zone[], p_of integer[], p_accounts bigint[], p_assets text[], p_amounts numeric[], p_roles text[], p_guarded bigint[]) RETURNS bigint
    LANGUAGE plpgsql
    AS $$
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
END $$;""",
    r"""CREATE FUNCTION ledger_refuse_change() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
    RAISE EXCEPTION 'the ledger is append-only: % of % is refused', TG_OP, TG_TABLE_NAME USING ERRCODE = '23001';
END $$;""",
    # The last entry of an account before which none can be committed any more.
    r"""CREATE FUNCTION ledger_settled_until(p_account bigint) RETURNS bigint
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
END $$;""",
    r"""CREATE INDEX entry_in_account ON ledger_entry USING btree (account_id, id) INCLUDE (amount_atomic);""",
    r"""CREATE TRIGGER account_checked BEFORE INSERT OR UPDATE ON ledger_account FOR EACH ROW EXECUTE FUNCTION ledger_check_account();""",
    r"""CREATE TRIGGER account_no_delete BEFORE DELETE ON ledger_account FOR EACH ROW EXECUTE FUNCTION ledger_refuse_change();""",
    r"""CREATE TRIGGER account_no_truncate BEFORE TRUNCATE ON ledger_account FOR EACH STATEMENT EXECUTE FUNCTION ledger_refuse_change();""",
    r"""CREATE TRIGGER entry_append_only BEFORE DELETE OR UPDATE ON ledger_entry FOR EACH ROW EXECUTE FUNCTION ledger_refuse_change();""",
    r"""CREATE TRIGGER entry_begun BEFORE INSERT ON ledger_entry FOR EACH STATEMENT EXECUTE FUNCTION ledger_begin_entries();""",
    r"""CREATE TRIGGER entry_checked AFTER INSERT ON ledger_entry REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION ledger_check_entries();""",
    r"""CREATE TRIGGER entry_no_truncate BEFORE TRUNCATE ON ledger_entry FOR EACH STATEMENT EXECUTE FUNCTION ledger_refuse_change();""",
    r"""CREATE TRIGGER movement_append_only BEFORE DELETE OR UPDATE ON ledger_movement FOR EACH ROW EXECUTE FUNCTION ledger_refuse_change();""",
    r"""CREATE CONSTRAINT TRIGGER movement_has_entries AFTER INSERT ON ledger_movement DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION ledger_check_movement();""",
    r"""CREATE TRIGGER movement_no_truncate BEFORE TRUNCATE ON ledger_movement FOR EACH STATEMENT EXECUTE FUNCTION ledger_refuse_change();""",
]


class Migration(migrations.Migration):

    replaces = [
        ('ledger', '0001_squashed_0006_held_for_payments'),
        ('ledger', '0007_cold_and_withdrawals'),
        ('ledger', '0008_one_index_a_column'),
        ('ledger', '0009_entries_in_order'),
        ('ledger', '0010_checkpoints_by_entry'),
        ('ledger', '0011_checkpoints_moved'),
        ('ledger', '0012_only_by_entry'),
        ('ledger', '0013_order_of_transactions'),
        ('ledger', '0014_accounts_by_index'),
        ('ledger', '0015_entries_without_transactions'),
    ]

    replaced_earlier = [
        ('ledger', '0001_initial'),
        ('ledger', '0002_rules'),
        ('ledger', '0003_checks'),
        ('ledger', '0004_shorter_tails'),
        ('ledger', '0005_no_second_check'),
        ('ledger', '0006_held_for_payments'),
    ]

    dependencies = [
        ('assets', '0001_squashed_0005_one_index_a_beginning'),
        ('stores', '0001_squashed_0028_one_index_a_beginning'),
    ]

    operations = [
        FirstTables([
            migrations.CreateModel(
                name='Account',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('mode', models.CharField(choices=[('live', 'Live'), ('test', 'Test')], max_length=4)),
                    ('kind', models.CharField(choices=[('available', 'available'), ('held', 'held'), ('reserved', 'reserved'), ('custody_deposits', 'custody_deposits'), ('custody_simulated', 'custody_simulated'), ('custody_hot', 'custody_hot'), ('custody_cold', 'custody_cold'), ('service_fees', 'service_fees'), ('network_fees', 'network_fees'), ('offramp_clearing', 'offramp_clearing'), ('swap_clearing', 'swap_clearing'), ('x402_clearing', 'x402_clearing'), ('withdrawal_clearing', 'withdrawal_clearing'), ('treasury', 'treasury')], max_length=20)),
                    ('is_guarded', models.BooleanField()),
                    ('checkpoint_atomic', apps.core.models.AtomicField(default=0)),
                    ('asset', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='assets.asset')),
                    ('store', models.ForeignKey(db_index=False, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='stores.store')),
                ],
            ),
            migrations.CreateModel(
                name='Movement',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('key', models.CharField(max_length=200)),
                    ('kind', models.CharField(max_length=40)),
                    ('mode', models.CharField(choices=[('live', 'Live'), ('test', 'Test')], max_length=4)),
                    ('reference', models.UUIDField(null=True)),
                    ('reason', models.TextField(blank=True, default='')),
                    ('at', models.DateTimeField()),
                    ('staff_user', models.ForeignKey(db_index=False, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                ],
            ),
            migrations.CreateModel(
                name='Entry',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('amount_atomic', apps.core.models.AtomicField()),
                    ('role', models.CharField(choices=[('gross', 'gross'), ('net', 'net'), ('service_fee', 'service_fee'), ('platform_fee', 'platform_fee'), ('network_fee', 'network_fee'), ('principal', 'principal')], max_length=12)),
                    ('account', models.ForeignKey(db_constraint=False, db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='entries', to='ledger.account')),
                    ('asset', models.ForeignKey(db_constraint=False, db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='assets.asset')),
                    ('movement', models.ForeignKey(db_constraint=False, on_delete=django.db.models.deletion.PROTECT, related_name='entries', to='ledger.movement')),
                ],
            ),
            migrations.AddConstraint(
                model_name='account',
                constraint=models.UniqueConstraint(fields=('store', 'mode', 'asset', 'kind'), name='account_once', nulls_distinct=False),
            ),
            migrations.AddConstraint(
                model_name='account',
                constraint=models.CheckConstraint(condition=models.Q(models.Q(('is_guarded', True), ('kind__in', ('available', 'held', 'reserved'))), models.Q(('is_guarded', False), models.Q(('kind__in', ('available', 'held', 'reserved')), _negated=True)), _connector='OR'), name='account_guard_fits_kind'),
            ),
            migrations.AddConstraint(
                model_name='account',
                constraint=models.CheckConstraint(condition=models.Q(('mode__in', ['live', 'test'])), name='account_mode_is_known'),
            ),
            migrations.AddConstraint(
                model_name='account',
                constraint=models.CheckConstraint(condition=models.Q(models.Q(('kind__in', ('available', 'held', 'reserved')), ('store__isnull', False)), models.Q(('kind__in', ['custody_deposits', 'custody_simulated', 'custody_hot', 'custody_cold', 'service_fees', 'network_fees', 'offramp_clearing', 'swap_clearing', 'x402_clearing', 'withdrawal_clearing', 'treasury']), ('store__isnull', True)), _connector='OR'), name='account_owner_fits_kind'),
            ),
            migrations.AddIndex(
                model_name='movement',
                index=models.Index(condition=models.Q(('reference__isnull', False)), fields=['reference'], name='movement_reference'),
            ),
            migrations.AddConstraint(
                model_name='movement',
                constraint=models.UniqueConstraint(fields=('key',), name='movement_key_once'),
            ),
            migrations.AddConstraint(
                model_name='movement',
                constraint=models.CheckConstraint(condition=models.Q(('mode__in', ['live', 'test'])), name='movement_mode_is_known'),
            ),
            migrations.AddConstraint(
                model_name='movement',
                constraint=models.CheckConstraint(condition=models.Q(models.Q(('kind', 'correction'), _negated=True), models.Q(('staff_user__isnull', False), models.Q(('reason', ''), _negated=True)), _connector='OR'), name='movement_correction_is_signed'),
            ),
            migrations.AddConstraint(
                model_name='entry',
                constraint=models.CheckConstraint(condition=models.Q(('amount_atomic', 0), _negated=True), name='entry_is_not_zero'),
            ),
            migrations.AddConstraint(
                model_name='entry',
                constraint=models.CheckConstraint(condition=models.Q(('role__in', ('gross', 'net', 'service_fee', 'platform_fee', 'network_fee', 'principal'))), name='entry_role_is_known'),
            ),
        ]),
        migrations.RunSQL(SQL),
    ]
