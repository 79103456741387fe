-- What Django's models can't say of the ledger's tables, and the triggers that make the rules hold for whoever writes.

ALTER TABLE ledger_movement ADD COLUMN xid xid8 NOT NULL DEFAULT pg_current_xact_id();
ALTER TABLE ledger_entry ADD COLUMN xid xid8 NOT NULL DEFAULT pg_current_xact_id();
ALTER TABLE ledger_account ADD COLUMN checkpoint_xid xid8 NOT NULL DEFAULT '0';
CREATE INDEX entry_of_account ON ledger_entry (account_id, xid, id) INCLUDE (amount_atomic);

CREATE TRIGGER movement_append_only BEFORE UPDATE OR DELETE ON ledger_movement FOR EACH ROW EXECUTE FUNCTION ledger_refuse_change();
CREATE TRIGGER entry_append_only BEFORE UPDATE OR DELETE ON ledger_entry FOR EACH ROW EXECUTE FUNCTION ledger_refuse_change();
CREATE TRIGGER account_no_delete BEFORE DELETE ON ledger_account FOR EACH ROW EXECUTE FUNCTION ledger_refuse_change();
CREATE TRIGGER movement_no_truncate BEFORE TRUNCATE ON ledger_movement FOR EACH STATEMENT EXECUTE FUNCTION ledger_refuse_change();
CREATE TRIGGER entry_no_truncate BEFORE TRUNCATE ON ledger_entry FOR EACH STATEMENT EXECUTE FUNCTION ledger_refuse_change();
CREATE TRIGGER account_no_truncate BEFORE TRUNCATE ON ledger_account FOR EACH STATEMENT EXECUTE FUNCTION ledger_refuse_change();
CREATE TRIGGER account_checked BEFORE INSERT OR UPDATE ON ledger_account FOR EACH ROW EXECUTE FUNCTION ledger_check_account();
CREATE TRIGGER entry_checked AFTER INSERT ON ledger_entry REFERENCING NEW TABLE AS added
    FOR EACH STATEMENT EXECUTE FUNCTION ledger_check_entries();
CREATE CONSTRAINT TRIGGER movement_has_entries AFTER INSERT ON ledger_movement DEFERRABLE INITIALLY DEFERRED
    FOR EACH ROW EXECUTE FUNCTION ledger_check_movement();
