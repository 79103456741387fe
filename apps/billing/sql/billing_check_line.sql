-- Refuses to add, change or delete a line, or the tax, of a finalized invoice.
CREATE OR REPLACE FUNCTION billing_check_line()
 RETURNS trigger
 LANGUAGE plpgsql
 SET search_path TO 'public', 'pg_temp'
AS $function$
DECLARE
    owner uuid := CASE TG_OP WHEN 'DELETE' THEN OLD.invoice_id ELSE NEW.invoice_id END;
BEGIN
    IF EXISTS (SELECT 1 FROM billing_invoice WHERE id = owner AND status <> 'draft') THEN
        RAISE EXCEPTION 'the lines of a finalized invoice are locked' USING ERRCODE = '23001';
    END IF;
    RETURN CASE TG_OP WHEN 'DELETE' THEN OLD ELSE NEW END;
END $function$;

CREATE TRIGGER invoice_line_checked BEFORE INSERT OR DELETE OR UPDATE ON billing_invoiceline FOR EACH ROW EXECUTE FUNCTION billing_check_line();

CREATE TRIGGER invoice_tax_checked BEFORE INSERT OR DELETE OR UPDATE ON billing_invoicetax FOR EACH ROW EXECUTE FUNCTION billing_check_line();
