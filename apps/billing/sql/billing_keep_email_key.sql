-- Keeps the lower-case email address by which a customer is found.
CREATE OR REPLACE FUNCTION billing_keep_email_key()
 RETURNS trigger
 LANGUAGE plpgsql
 SET search_path TO 'public', 'pg_temp'
AS $function$
BEGIN
    NEW.email_key := lower(NEW.email);
    RETURN NEW;
END $function$;

CREATE TRIGGER email_key_kept BEFORE INSERT OR UPDATE OF email, email_key ON billing_customer FOR EACH ROW EXECUTE FUNCTION billing_keep_email_key();
