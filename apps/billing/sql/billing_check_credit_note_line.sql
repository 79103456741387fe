-- Refuses to change or delete a line of a credit note.
CREATE OR REPLACE FUNCTION billing_check_credit_note_line()
 RETURNS trigger
 LANGUAGE plpgsql
 SET search_path TO 'public', 'pg_temp'
AS $function$
BEGIN
    RAISE EXCEPTION 'the lines of a credit note are final' USING ERRCODE = '23001';
END $function$;

CREATE TRIGGER credit_note_line_checked BEFORE DELETE OR UPDATE ON billing_creditnoteline FOR EACH ROW EXECUTE FUNCTION billing_check_credit_note_line();
