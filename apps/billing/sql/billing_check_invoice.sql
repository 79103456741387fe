-- Refuses to change the figures of a finalized invoice, to delete it, to reopen a closed one, and a
-- number that leaves a gap.
CREATE OR REPLACE FUNCTION billing_check_invoice()
 RETURNS trigger
 LANGUAGE plpgsql
 SET search_path TO 'public', 'pg_temp'
AS $function$
DECLARE
    last_number integer;
    printed text;
BEGIN
    IF TG_OP = 'DELETE' THEN
        IF OLD.status <> 'draft' THEN
            RAISE EXCEPTION 'only a draft invoice is deleted' USING ERRCODE = '23001';
        END IF;
        RETURN OLD;
    END IF;
    IF TG_OP = 'INSERT' THEN
        IF NEW.status <> 'draft' THEN
            RAISE EXCEPTION 'an invoice begins as a draft' USING ERRCODE = '23514';
        END IF;
        RETURN NEW;
    END IF;
    IF NEW.store_id <> OLD.store_id AND stores_is_put_away(OLD.store_id, NEW.store_id, NEW.mode)
       AND to_jsonb(NEW) - 'store_id' = to_jsonb(OLD) - 'store_id' THEN
        RETURN NEW;
    END IF;
    IF OLD.status <> 'draft' AND
       (NEW.store_id, NEW.mode, NEW.customer_id, NEW.subscription_id, NEW.period_key, NEW.currency, NEW.number, NEW.custom_number,
        NEW.public_token, NEW.finalized_at, NEW.subtotal_cents, NEW.discount_cents, NEW.tax_cents, NEW.total_cents,
        NEW.tax_rate_id, NEW.tax_case, NEW.issued_on, NEW.supplied_from, NEW.supplied_until, NEW.seller, NEW.buyer,
        NEW.credit_applied_cents, NEW.series, NEW.series_number)
       IS DISTINCT FROM
       (OLD.store_id, OLD.mode, OLD.customer_id, OLD.subscription_id, OLD.period_key, OLD.currency, OLD.number, OLD.custom_number,
        OLD.public_token, OLD.finalized_at, OLD.subtotal_cents, OLD.discount_cents, OLD.tax_cents, OLD.total_cents,
        OLD.tax_rate_id, OLD.tax_case, OLD.issued_on, OLD.supplied_from, OLD.supplied_until, OLD.seller, OLD.buyer,
        OLD.credit_applied_cents, OLD.series, OLD.series_number) THEN
        RAISE EXCEPTION 'a finalized invoice is locked' USING ERRCODE = '23001';
    END IF;
    IF OLD.status IN ('paid', 'void', 'uncollectible') AND NEW.status <> OLD.status THEN
        RAISE EXCEPTION 'nothing leaves %', OLD.status USING ERRCODE = '23514';
    END IF;
    IF NEW.status = 'draft' AND OLD.status <> 'draft' THEN
        RAISE EXCEPTION 'a finalized invoice is no draft again' USING ERRCODE = '23514';
    END IF;
    IF OLD.number IS NULL AND NEW.number IS NOT NULL THEN
        SELECT max(number) INTO last_number FROM billing_invoice WHERE store_id = NEW.store_id AND mode = NEW.mode;
        IF NEW.number <> coalesce(last_number, 0) + 1 THEN
            RAISE EXCEPTION 'invoice number % would leave a gap', NEW.number USING ERRCODE = '23514';
        END IF;
        IF NEW.series IS NULL AND NEW.custom_number IS NULL AND EXISTS (SELECT 1 FROM billing_invoice
           WHERE store_id = NEW.store_id AND mode = NEW.mode AND series = 'INV-' AND series_number = NEW.number) THEN
            RAISE EXCEPTION 'invoice number INV-% is taken', NEW.number USING ERRCODE = '23505';
        END IF;
        IF NEW.series IS NOT NULL THEN
            SELECT max(series_number) INTO last_number FROM billing_invoice
            WHERE store_id = NEW.store_id AND mode = NEW.mode AND series = NEW.series;
            IF last_number IS NULL AND NEW.series = 'INV-' THEN
                SELECT max(number) INTO last_number FROM billing_invoice
                WHERE store_id = NEW.store_id AND mode = NEW.mode AND series IS NULL AND custom_number IS NULL;
            END IF;
            IF NEW.series_number IS DISTINCT FROM coalesce(last_number, 0) + 1 THEN
                RAISE EXCEPTION 'invoice number % of % would leave a gap', NEW.series_number, NEW.series USING ERRCODE = '23514';
            END IF;
            printed := NEW.series || lpad(NEW.series_number::text, greatest(4, length(NEW.series_number::text)), '0');
            IF EXISTS (SELECT 1 FROM billing_invoice
               WHERE store_id = NEW.store_id AND mode = NEW.mode AND custom_number = printed) THEN
                RAISE EXCEPTION 'invoice number % is taken', printed USING ERRCODE = '23505';
            END IF;
        END IF;
    END IF;
    RETURN NEW;
END $function$;

CREATE TRIGGER invoice_checked BEFORE INSERT OR DELETE OR UPDATE ON billing_invoice FOR EACH ROW EXECUTE FUNCTION billing_check_invoice();
