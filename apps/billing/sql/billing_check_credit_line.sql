-- Refuses to change or delete a line of a customer's credit, one of another customer's invoice or
-- currency, more than came for the invoice beyond what is owed, and a balance below zero.
CREATE OR REPLACE FUNCTION billing_check_credit_line()
 RETURNS trigger
 LANGUAGE plpgsql
 SET search_path TO 'public', 'pg_temp'
AS $function$
DECLARE
    billed record;
    balance bigint;
    moved bigint;
    owed bigint;
BEGIN
    IF TG_OP = 'UPDATE' AND stores_is_put_away(OLD.store_id, NEW.store_id, NEW.mode)
       AND to_jsonb(NEW) - 'store_id' = to_jsonb(OLD) - 'store_id' THEN
        RETURN NEW;
    END IF;
    IF TG_OP <> 'INSERT' THEN
        RAISE EXCEPTION 'a line of a customer''s credit is final' USING ERRCODE = '23001';
    END IF;
    PERFORM 1 FROM billing_customer WHERE id = NEW.customer_id FOR NO KEY UPDATE;
    SELECT i.* INTO billed FROM billing_invoice i WHERE i.id = NEW.invoice_id;
    IF billed.number IS NULL OR (billed.store_id, billed.mode, billed.currency, billed.customer_id) IS DISTINCT FROM
       (NEW.store_id, NEW.mode::varchar, NEW.currency, NEW.customer_id) THEN
        RAISE EXCEPTION 'credit is of a finalized invoice of its customer' USING ERRCODE = '23514';
    END IF;
    SELECT coalesce(sum(amount_cents), 0) INTO balance FROM billing_customercreditline
    WHERE customer_id = NEW.customer_id AND currency = NEW.currency;
    IF balance < 0 THEN
        RAISE EXCEPTION 'more than the customer''s credit' USING ERRCODE = '23514';
    END IF;
    IF NEW.kind = 'applied' AND NEW.amount_cents <> -billed.credit_applied_cents THEN
        RAISE EXCEPTION 'the invoice says that % was applied', billed.credit_applied_cents USING ERRCODE = '23514';
    END IF;
    SELECT coalesce(sum(amount_cents), 0) INTO moved FROM billing_customercreditline
    WHERE invoice_id = NEW.invoice_id AND kind <> 'applied';
    owed := (CASE billed.status WHEN 'void' THEN 0 ELSE billed.total_cents END);
    IF moved < 0 OR (NEW.kind = 'overpaid' AND moved > billed.amount_paid_cents - billed.refunded_cents - owed) THEN
        RAISE EXCEPTION 'more than came beyond what is owed' USING ERRCODE = '23514';
    END IF;
    RETURN NEW;
END $function$;

CREATE TRIGGER credit_line_checked AFTER INSERT OR DELETE OR UPDATE ON billing_customercreditline FOR EACH ROW EXECUTE FUNCTION billing_check_credit_line();
