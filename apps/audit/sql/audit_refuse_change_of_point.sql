-- Refuses to change or delete a verified point of the audit.
CREATE OR REPLACE FUNCTION audit_refuse_change_of_point()
 RETURNS trigger
 LANGUAGE plpgsql
 SET search_path TO 'public', 'pg_temp'
AS $function$
BEGIN
    RAISE EXCEPTION 'verified points are append-only' USING ERRCODE = 'integrity_constraint_violation';
END $function$;

CREATE TRIGGER point_append_only BEFORE DELETE OR UPDATE ON audit_verifiedpoint FOR EACH ROW EXECUTE FUNCTION audit_refuse_change_of_point();

CREATE TRIGGER point_no_truncate BEFORE TRUNCATE ON audit_verifiedpoint FOR EACH STATEMENT EXECUTE FUNCTION audit_refuse_change_of_point();
