-- What the database itself holds true of the ledger, whoever writes.

ALTER TABLE ledger_movement ADD COLUMN xid xid8 NOT NULL DEFAULT pg_current_xact_id();
ALTER TABLE ledger_entry ADD COLUMN xid xid8 NOT NULL DEFAULT pg_current_xact_id();
ALTER TABLE ledger_account ADD COLUMN checkpoint_xid xid8 NOT NULL DEFAULT '0';
CREATE INDEX entry_of_account ON ledger_entry (account_id, xid) INCLUDE (amount_atomic);

-- A balance is the checkpoint and every entry that it doesn't cover.
CREATE FUNCTION ledger_balance(p_account bigint) RETURNS numeric LANGUAGE sql STABLE AS $$
    SELECT a.checkpoint_atomic
         + coalesce((SELECT sum(e.amount_atomic) FROM ledger_entry e WHERE e.account_id = a.id AND e.xid >= a.checkpoint_xid), 0)
    FROM ledger_account a WHERE a.id = p_account
$$;

CREATE FUNCTION ledger_refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'the ledger is append-only: % of % is refused', TG_OP, TG_TABLE_NAME USING ERRCODE = '23001';
END $$;
CREATE TRIGGER movement_append_only BEFORE UPDATE OR DELETE ON ledger_movement FOR EACH ROW EXECUTE FUNCTION ledger_refuse_change();
CREATE TRIGGER entry_append_only BEFORE UPDATE OR DELETE ON ledger_entry FOR EACH ROW EXECUTE FUNCTION ledger_refuse_change();
CREATE TRIGGER movement_no_truncate BEFORE TRUNCATE ON ledger_movement FOR EACH STATEMENT EXECUTE FUNCTION ledger_refuse_change();
CREATE TRIGGER entry_no_truncate BEFORE TRUNCATE ON ledger_entry FOR EACH STATEMENT EXECUTE FUNCTION ledger_refuse_change();
CREATE TRIGGER account_no_delete BEFORE DELETE ON ledger_account FOR EACH ROW EXECUTE FUNCTION ledger_refuse_change();
CREATE TRIGGER account_no_truncate BEFORE TRUNCATE ON ledger_account FOR EACH STATEMENT EXECUTE FUNCTION ledger_refuse_change();

-- Of an account only the checkpoint moves, and only to what the entries say.
CREATE FUNCTION ledger_check_account() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    expected numeric;
BEGIN
    IF (NEW.id, NEW.store_id, NEW.mode, NEW.asset_id, NEW.kind, NEW.is_guarded)
       IS DISTINCT FROM (OLD.id, OLD.store_id, OLD.mode, OLD.asset_id, OLD.kind, OLD.is_guarded) THEN
        RAISE EXCEPTION 'an account is never changed' USING ERRCODE = '23001';
    END IF;
    expected := coalesce((SELECT sum(e.amount_atomic) FROM ledger_entry e WHERE e.account_id = NEW.id AND e.xid < NEW.checkpoint_xid
        AND (NEW.checkpoint_xid < OLD.checkpoint_xid OR e.xid >= OLD.checkpoint_xid)), 0);
    IF NEW.checkpoint_xid >= OLD.checkpoint_xid THEN
        expected := expected + OLD.checkpoint_atomic;
    END IF;
    IF NEW.checkpoint_atomic IS DISTINCT FROM expected THEN
        RAISE EXCEPTION 'the checkpoint of account % is not what its entries say', NEW.id USING ERRCODE = '23514';
    END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER account_checkpoint_only BEFORE UPDATE ON ledger_account FOR EACH ROW EXECUTE FUNCTION ledger_check_account();

-- The entries of one statement: balanced per asset, of one mode, of this transaction's movement; guarded accounts stay covered.
CREATE FUNCTION ledger_check_entries() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    wrong text;
    going_down bigint[];
    short bigint;
BEGIN
    SELECT CASE
        WHEN bool_or(a.id IS NULL OR e.asset_id <> a.asset_id) THEN 'an entry is in another asset than its account'
        WHEN bool_or(m.mode <> a.mode) THEN 'an entry is in another mode than its movement'
        WHEN bool_or(m.xid <> pg_current_xact_id()) THEN 'the movement was written by an earlier transaction'
    END INTO wrong
    FROM added e LEFT JOIN ledger_account a ON a.id = e.account_id LEFT JOIN ledger_movement m ON m.id = e.movement_id;
    IF wrong IS NULL AND EXISTS (SELECT 1 FROM added GROUP BY movement_id, asset_id HAVING sum(amount_atomic) <> 0) THEN
        wrong := 'a movement doesn''t sum to zero per asset';
    END IF;
    IF wrong IS NOT NULL THEN
        RAISE EXCEPTION '%', wrong USING ERRCODE = '23514';
    END IF;

    SELECT array_agg(d.account_id ORDER BY d.account_id) INTO going_down
    FROM (SELECT account_id FROM added WHERE amount_atomic < 0 GROUP BY account_id) d
    JOIN ledger_account a ON a.id = d.account_id AND a.is_guarded;
    IF going_down IS NOT NULL THEN
        IF current_setting('transaction_isolation') <> 'read committed' THEN
            RAISE EXCEPTION 'guarded accounts are debited in READ COMMITTED only' USING ERRCODE = '25001';
        END IF;
        PERFORM 1 FROM ledger_account WHERE id = ANY (going_down) ORDER BY id FOR NO KEY UPDATE;
        SELECT id INTO short FROM ledger_account WHERE id = ANY (going_down) AND ledger_balance(id) < 0 ORDER BY id LIMIT 1;
        IF short IS NOT NULL THEN
            RAISE EXCEPTION 'insufficient balance on account %', short USING ERRCODE = 'TG001';
        END IF;
    END IF;
    RETURN NULL;
END $$;
CREATE TRIGGER entry_checked AFTER INSERT ON ledger_entry REFERENCING NEW TABLE AS added
    FOR EACH STATEMENT EXECUTE FUNCTION ledger_check_entries();

-- A movement without entries is none.
CREATE FUNCTION ledger_check_movement() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF NOT EXISTS (SELECT 1 FROM ledger_entry WHERE movement_id = NEW.id) THEN
        RAISE EXCEPTION 'movement % has no entries', NEW.id USING ERRCODE = '23514';
    END IF;
    RETURN NULL;
END $$;
CREATE CONSTRAINT TRIGGER movement_has_entries AFTER INSERT ON ledger_movement DEFERRABLE INITIALLY DEFERRED
    FOR EACH ROW EXECUTE FUNCTION ledger_check_movement();

-- The one function that posts: once per key; a later call with the key answers the first one's movement and posts nothing.
CREATE FUNCTION ledger_post(
    p_key text, p_kind text, p_mode text, p_reference uuid, p_at timestamptz,
    p_accounts bigint[], p_assets text[], p_amounts numeric[], p_roles text[],
    p_reason text DEFAULT '', p_staff uuid DEFAULT NULL, OUT movement bigint, OUT is_new boolean
) LANGUAGE plpgsql AS $$
BEGIN
    WITH made AS (
        INSERT INTO ledger_movement (key, kind, mode, reference, reason, staff_user_id, at)
        VALUES (p_key, p_kind, p_mode, p_reference, p_reason, p_staff, p_at)
        ON CONFLICT (key) DO NOTHING RETURNING id
    ), legs AS (
        INSERT INTO ledger_entry (movement_id, account_id, asset_id, amount_atomic, role)
        SELECT made.id, leg.account, leg.asset, leg.amount, leg.role
        FROM made, unnest(p_accounts, p_assets, p_amounts, p_roles) AS leg(account, asset, amount, role)
    )
    SELECT id, true INTO movement, is_new FROM made;
    IF movement IS NULL THEN
        SELECT id, false INTO movement, is_new FROM ledger_movement WHERE key = p_key;
    END IF;
END $$;

-- Fold what every running transaction already sees into the checkpoint. The boundary is a snapshot's, so nothing is lost.
CREATE FUNCTION ledger_checkpoint(p_account bigint) RETURNS void LANGUAGE sql AS $$
    UPDATE ledger_account a SET checkpoint_xid = b.xid, checkpoint_atomic = a.checkpoint_atomic + coalesce(
        (SELECT sum(e.amount_atomic) FROM ledger_entry e WHERE e.account_id = a.id AND e.xid >= a.checkpoint_xid AND e.xid < b.xid), 0)
    FROM (SELECT pg_snapshot_xmin(pg_current_snapshot()) AS xid) b
    WHERE a.id = p_account AND b.xid > a.checkpoint_xid
$$;

-- After a logical restore transaction ids begin anew: every entry is counted as written before the restore.
CREATE FUNCTION ledger_rebuild_checkpoints() RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    ALTER TABLE ledger_entry DISABLE TRIGGER entry_append_only;
    UPDATE ledger_entry SET xid = '1' WHERE xid <> '1';
    ALTER TABLE ledger_entry ENABLE TRIGGER entry_append_only;
    UPDATE ledger_account SET checkpoint_xid = '0', checkpoint_atomic = 0;
END $$;
