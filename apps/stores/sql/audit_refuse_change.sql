-- Refuses to change or delete an entry of the audit log or one of its seals.
CREATE OR REPLACE FUNCTION audit_refuse_change()
 RETURNS trigger
 LANGUAGE plpgsql
 SET search_path TO 'public', 'pg_temp'
AS $function$
BEGIN
    RAISE EXCEPTION 'the audit log is append-only' USING ERRCODE = 'integrity_constraint_violation';
END $function$;

CREATE TRIGGER audit_append_only BEFORE DELETE OR UPDATE ON stores_auditentry FOR EACH ROW EXECUTE FUNCTION audit_refuse_change();

CREATE TRIGGER audit_no_truncate BEFORE TRUNCATE ON stores_auditentry FOR EACH STATEMENT EXECUTE FUNCTION audit_refuse_change();

CREATE TRIGGER audit_seal_append_only BEFORE DELETE OR UPDATE ON stores_auditseal FOR EACH ROW EXECUTE FUNCTION audit_refuse_change();

CREATE TRIGGER audit_seal_no_truncate BEFORE TRUNCATE ON stores_auditseal FOR EACH STATEMENT EXECUTE FUNCTION audit_refuse_change();
