-- Keeps the list of payments whose reconciliation is due or disputed.
CREATE OR REPLACE FUNCTION payments_keep_reconciliation_task()
 RETURNS trigger
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'public', 'pg_temp'
AS $function$
BEGIN
    IF NEW.reconciliation_due OR NEW.reconciliation_status IS NOT DISTINCT FROM 'disputed' THEN
        INSERT INTO payments_reconciliationtask (payment_id, is_due, is_disputed)
        VALUES (NEW.id, NEW.reconciliation_due,
            NEW.reconciliation_status IS NOT DISTINCT FROM 'disputed')
        ON CONFLICT (payment_id) DO UPDATE
            SET is_due = EXCLUDED.is_due, is_disputed = EXCLUDED.is_disputed;
    ELSE
        DELETE FROM payments_reconciliationtask WHERE payment_id = NEW.id;
    END IF;
    RETURN NULL;
END $function$;

CREATE TRIGGER reconciliation_task_kept AFTER UPDATE ON payments_payment FOR EACH ROW WHEN (old.reconciliation_due IS DISTINCT FROM new.reconciliation_due OR (NOT old.reconciliation_status::text IS DISTINCT FROM 'disputed'::text) IS DISTINCT FROM (NOT new.reconciliation_status::text IS DISTINCT FROM 'disputed'::text)) EXECUTE FUNCTION payments_keep_reconciliation_task();

CREATE TRIGGER reconciliation_task_of_new AFTER INSERT ON payments_payment FOR EACH ROW WHEN (new.reconciliation_due OR new.reconciliation_status::text = 'disputed'::text) EXECUTE FUNCTION payments_keep_reconciliation_task();
