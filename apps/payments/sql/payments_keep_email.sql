-- Keeps the customer's email address by which a payment is found.
CREATE OR REPLACE FUNCTION payments_keep_email()
 RETURNS trigger
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'public', 'pg_temp'
AS $function$
DECLARE
    v_email text := left(lower(NEW.metadata ->> 'customer_email'), 254);
BEGIN
    IF v_email IS NULL THEN
        DELETE FROM public.payments_paymentemail WHERE payment_id = OLD.id;
    ELSE
        INSERT INTO public.payments_paymentemail (payment_id, store_id, mode, email, created_at)
        VALUES (NEW.id, NEW.store_id, NEW.mode, v_email, NEW.created_at)
        ON CONFLICT (payment_id) DO UPDATE SET store_id = EXCLUDED.store_id,
            mode = EXCLUDED.mode, email = EXCLUDED.email, created_at = EXCLUDED.created_at;
    END IF;
    RETURN NULL;
END $function$;

CREATE TRIGGER email_kept AFTER UPDATE OF metadata, store_id, mode, created_at ON payments_payment FOR EACH ROW WHEN ((old.metadata ? 'customer_email'::text OR new.metadata ? 'customer_email'::text) AND (old.metadata IS DISTINCT FROM new.metadata OR old.store_id IS DISTINCT FROM new.store_id OR old.mode::text IS DISTINCT FROM new.mode::text OR old.created_at IS DISTINCT FROM new.created_at)) EXECUTE FUNCTION payments_keep_email();

CREATE TRIGGER email_of_deleted AFTER DELETE ON payments_payment FOR EACH ROW WHEN (old.metadata ? 'customer_email'::text) EXECUTE FUNCTION payments_keep_email();

CREATE TRIGGER email_of_new AFTER INSERT ON payments_payment FOR EACH ROW WHEN (new.metadata ? 'customer_email'::text) EXECUTE FUNCTION payments_keep_email();
