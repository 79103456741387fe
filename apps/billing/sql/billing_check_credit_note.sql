-- Refuses to change or delete a credit note, a number that leaves a gap, and more than the invoice
-- has billed. It runs after the row, so that the row's policy is asked first.
CREATE OR REPLACE FUNCTION billing_check_credit_note()
 RETURNS trigger
 LANGUAGE plpgsql
 SET search_path TO 'public', 'pg_temp'
AS $function$
DECLARE
    billed record;
    credited bigint;
    last_number integer;
BEGIN
    IF TG_OP = 'UPDATE' AND stores_is_put_away(OLD.store_id, NEW.store_id, NEW.mode)
       AND to_jsonb(NEW) - 'store_id' = to_jsonb(OLD) - 'store_id' THEN
        RETURN NEW;
    END IF;
    IF TG_OP <> 'INSERT' THEN
        RAISE EXCEPTION 'a credit note is final' USING ERRCODE = '23001';
    END IF;
    SELECT i.store_id, i.mode, i.currency, i.total_cents, i.number INTO billed
    FROM billing_invoice i WHERE i.id = NEW.invoice_id FOR UPDATE;
    IF billed.number IS NULL OR (billed.store_id, billed.mode, billed.currency) IS DISTINCT FROM
       (NEW.store_id, NEW.mode::varchar, NEW.currency) THEN
        RAISE EXCEPTION 'a credit note is of a finalized invoice of its store' USING ERRCODE = '23514';
    END IF;
    SELECT coalesce(sum(total_cents), 0) INTO credited
    FROM billing_creditnote WHERE invoice_id = NEW.invoice_id;
    IF credited > billed.total_cents THEN
        RAISE EXCEPTION 'more than was billed' USING ERRCODE = '23514';
    END IF;
    SELECT max(number) INTO last_number FROM billing_creditnote
    WHERE store_id = NEW.store_id AND mode = NEW.mode AND id <> NEW.id;
    IF NEW.number <> coalesce(last_number, 0) + 1 THEN
        RAISE EXCEPTION 'credit note number % would leave a gap', NEW.number USING ERRCODE = '23514';
    END IF;
    IF NEW.series IS NULL AND EXISTS (SELECT 1 FROM billing_creditnote
       WHERE store_id = NEW.store_id AND mode = NEW.mode AND series = 'CN-' AND series_number = NEW.number) THEN
        RAISE EXCEPTION 'credit note number CN-% is taken', NEW.number USING ERRCODE = '23505';
    END IF;
    IF NEW.series IS NOT NULL THEN
        SELECT max(series_number) INTO last_number FROM billing_creditnote
        WHERE store_id = NEW.store_id AND mode = NEW.mode AND series = NEW.series AND id <> NEW.id;
        IF last_number IS NULL AND NEW.series = 'CN-' THEN
            SELECT max(number) INTO last_number FROM billing_creditnote
            WHERE store_id = NEW.store_id AND mode = NEW.mode AND series IS NULL;
        END IF;
        IF NEW.series_number IS DISTINCT FROM coalesce(last_number, 0) + 1 THEN
            RAISE EXCEPTION 'credit note number % of % would leave a gap', NEW.series_number, NEW.series USING ERRCODE = '23514';
        END IF;
    END IF;
    IF NEW.refunded_cents IS NOT NULL AND NOT EXISTS (SELECT 1 FROM billing_invoice i
       WHERE i.id = NEW.invoice_id AND i.refunded_cents = NEW.refunded_cents AND i.refunded_cents > 0) THEN
        RAISE EXCEPTION 'a credit note of a refund is of what was refunded' USING ERRCODE = '23514';
    END IF;
    RETURN NEW;
END $function$;

CREATE TRIGGER credit_note_checked AFTER INSERT OR DELETE OR UPDATE ON billing_creditnote FOR EACH ROW EXECUTE FUNCTION billing_check_credit_note();
