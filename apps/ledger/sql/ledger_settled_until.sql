-- The newest entry of an account before which none is still being written.
CREATE OR REPLACE FUNCTION ledger_settled_until(p_account bigint)
 RETURNS bigint
 LANGUAGE plpgsql
AS $function$
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
END $function$;
