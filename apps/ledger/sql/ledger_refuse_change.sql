-- Refuses to change or delete accounts, movements and entries.
CREATE OR REPLACE FUNCTION ledger_refuse_change()
 RETURNS trigger
 LANGUAGE plpgsql
 SET search_path TO 'public', 'pg_temp'
AS $function$
BEGIN
    RAISE EXCEPTION 'the ledger is append-only: % of % is refused', TG_OP, TG_TABLE_NAME USING ERRCODE = '23001';
END $function$;

CREATE TRIGGER account_no_delete BEFORE DELETE ON ledger_account FOR EACH ROW EXECUTE FUNCTION ledger_refuse_change();

CREATE TRIGGER account_no_truncate BEFORE TRUNCATE ON ledger_account FOR EACH STATEMENT EXECUTE FUNCTION ledger_refuse_change();

CREATE TRIGGER entry_append_only BEFORE DELETE OR UPDATE ON ledger_entry FOR EACH ROW EXECUTE FUNCTION ledger_refuse_change();

CREATE TRIGGER entry_no_truncate BEFORE TRUNCATE ON ledger_entry FOR EACH STATEMENT EXECUTE FUNCTION ledger_refuse_change();

CREATE TRIGGER movement_append_only BEFORE DELETE OR UPDATE ON ledger_movement FOR EACH ROW EXECUTE FUNCTION ledger_refuse_change();

CREATE TRIGGER movement_no_truncate BEFORE TRUNCATE ON ledger_movement FOR EACH STATEMENT EXECUTE FUNCTION ledger_refuse_change();
