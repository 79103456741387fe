-- Keeps the reference by which a payment is found.
CREATE OR REPLACE FUNCTION payments_keep_reference()
 RETURNS trigger
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'public', 'pg_temp'
AS $function$
BEGIN
    INSERT INTO public.payments_paymentreference (payment_id, reference)
    VALUES (NEW.id, NEW.reference);
    RETURN NULL;
END $function$;

CREATE TRIGGER reference_of_new AFTER INSERT ON payments_payment FOR EACH ROW EXECUTE FUNCTION payments_keep_reference();
