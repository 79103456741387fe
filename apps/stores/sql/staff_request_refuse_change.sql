-- Refuses to delete a staff request, to decide it twice, and to change what was asked.
CREATE OR REPLACE FUNCTION staff_request_refuse_change()
 RETURNS trigger
 LANGUAGE plpgsql
 SET search_path TO 'public', 'pg_temp'
AS $function$
BEGIN
    IF TG_OP IN ('DELETE', 'TRUNCATE') THEN
        RAISE EXCEPTION 'a staff request stays' USING ERRCODE = 'integrity_constraint_violation';
    END IF;
    IF NEW.digest <> encode(sha256(convert_to(NEW.content, 'UTF8')), 'hex') THEN
        RAISE EXCEPTION 'a staff request is bound to its content' USING ERRCODE = 'integrity_constraint_violation';
    END IF;
    IF TG_OP = 'INSERT' THEN
        IF NEW.state <> 'pending' THEN
            RAISE EXCEPTION 'a staff request begins undecided' USING ERRCODE = 'integrity_constraint_violation';
        END IF;
        RETURN NEW;
    END IF;
    IF OLD.state <> 'pending' THEN
        RAISE EXCEPTION 'a staff request is decided once' USING ERRCODE = 'integrity_constraint_violation';
    END IF;
    IF (OLD.id, OLD.kind, OLD.target_id, OLD.name, OLD.content, OLD.digest, OLD.reason, OLD.asked_by_id, OLD.asked_at, OLD.expires_at)
       IS DISTINCT FROM
       (NEW.id, NEW.kind, NEW.target_id, NEW.name, NEW.content, NEW.digest, NEW.reason, NEW.asked_by_id, NEW.asked_at, NEW.expires_at)
    THEN
        RAISE EXCEPTION 'what was asked never changes' USING ERRCODE = 'integrity_constraint_violation';
    END IF;
    RETURN NEW;
END;
$function$;

CREATE TRIGGER staff_request_guarded BEFORE INSERT OR DELETE OR UPDATE ON stores_staffrequest FOR EACH ROW EXECUTE FUNCTION staff_request_refuse_change();

CREATE TRIGGER staff_request_no_truncate BEFORE TRUNCATE ON stores_staffrequest FOR EACH STATEMENT EXECUTE FUNCTION staff_request_refuse_change();
