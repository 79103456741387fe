-- Refuses an order that doesn't begin undone, a change of what was ordered, a shorter wait, and a second end.
CREATE OR REPLACE FUNCTION stores_guard_worker_order()
 RETURNS trigger
 LANGUAGE plpgsql
 SET search_path TO 'public', 'pg_temp'
AS $function$
BEGIN
    IF TG_OP IN ('DELETE', 'TRUNCATE') THEN
        RAISE EXCEPTION 'an order of a worker stays' USING ERRCODE = 'integrity_constraint_violation';
    END IF;
    IF TG_OP = 'INSERT' THEN
        IF num_nonnulls(NEW.noticed_at, NEW.due_at, NEW.stopped_at, NEW.stopped_by_id, NEW.ended_at) > 0 OR NEW.is_done
            OR NEW.outcome <> '' THEN
            RAISE EXCEPTION 'an order of a worker begins with nothing done' USING ERRCODE = 'integrity_constraint_violation';
        END IF;
        RETURN NEW;
    END IF;
    IF (OLD.id, OLD.kind, OLD.target_id, OLD.store_id, OLD.mode, OLD.name, OLD.reason, OLD.asked_by_id, OLD.asked_at)
        IS DISTINCT FROM
        (NEW.id, NEW.kind, NEW.target_id, NEW.store_id, NEW.mode, NEW.name, NEW.reason, NEW.asked_by_id, NEW.asked_at) THEN
        RAISE EXCEPTION 'what was ordered never changes' USING ERRCODE = 'integrity_constraint_violation';
    END IF;
    IF OLD.ended_at IS NOT NULL OR OLD.stopped_at IS NOT NULL
        OR OLD.due_at IS NOT NULL AND (OLD.noticed_at, OLD.due_at) IS DISTINCT FROM (NEW.noticed_at, NEW.due_at)
        OR NEW.is_done AND (NEW.ended_at IS NULL OR NEW.stopped_at IS NOT NULL OR OLD.due_at IS NULL) THEN
        RAISE EXCEPTION 'an order of a worker waits, and ends once' USING ERRCODE = 'integrity_constraint_violation';
    END IF;
    RETURN NEW;
END $function$;

CREATE TRIGGER worker_order_guarded BEFORE INSERT OR DELETE OR UPDATE ON stores_workerorder FOR EACH ROW EXECUTE FUNCTION stores_guard_worker_order();

CREATE TRIGGER worker_order_no_truncate BEFORE TRUNCATE ON stores_workerorder FOR EACH STATEMENT EXECUTE FUNCTION stores_guard_worker_order();
