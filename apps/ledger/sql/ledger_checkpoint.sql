-- Moves the checkpoint of an account up to its newest settled entry.
CREATE OR REPLACE FUNCTION ledger_checkpoint(p_account bigint)
 RETURNS void
 LANGUAGE plpgsql
 SET search_path TO 'public', 'pg_temp'
AS $function$
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
END $function$;
