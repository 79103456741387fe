-- Refuses to change or delete a seal of payments.
CREATE OR REPLACE FUNCTION payments_refuse_seal_change()
 RETURNS trigger
 LANGUAGE plpgsql
 SET search_path TO 'public', 'pg_temp'
AS $function$
BEGIN
    RAISE EXCEPTION 'the seals of payments are append-only' USING ERRCODE = 'integrity_constraint_violation';
END $function$;

CREATE TRIGGER payment_seal_append_only BEFORE DELETE OR UPDATE ON payments_paymentseal FOR EACH ROW EXECUTE FUNCTION payments_refuse_seal_change();

CREATE TRIGGER payment_seal_no_truncate BEFORE TRUNCATE ON payments_paymentseal FOR EACH STATEMENT EXECUTE FUNCTION payments_refuse_seal_change();
