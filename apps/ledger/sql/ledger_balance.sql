-- The balance of an account: its checkpoint and the entries after it.
CREATE OR REPLACE FUNCTION ledger_balance(p_account bigint)
 RETURNS numeric
 LANGUAGE sql
 STABLE
AS $function$
    SELECT a.checkpoint_atomic
         + coalesce((SELECT sum(e.amount_atomic) FROM ledger_entry e WHERE e.account_id = a.id AND e.id > a.checkpoint_id), 0)
    FROM ledger_account a WHERE a.id = p_account
$function$;
