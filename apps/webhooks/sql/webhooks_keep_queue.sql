-- Keeps the queue of deliveries that are still to be made.
CREATE OR REPLACE FUNCTION webhooks_keep_queue()
 RETURNS trigger
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'public', 'pg_temp'
AS $function$
BEGIN
    IF TG_OP <> 'DELETE' AND NEW.status IN ('pending', 'attempting') THEN
        INSERT INTO webhooks_queueddelivery
            (delivery_id, endpoint_id, status, attempts, next_attempt_at, claimed_until)
        VALUES (NEW.id, NEW.endpoint_id, NEW.status, NEW.attempts, NEW.next_attempt_at,
            NEW.claimed_until)
        ON CONFLICT (delivery_id) DO UPDATE SET endpoint_id = EXCLUDED.endpoint_id,
            status = EXCLUDED.status, attempts = EXCLUDED.attempts,
            next_attempt_at = EXCLUDED.next_attempt_at, claimed_until = EXCLUDED.claimed_until, is_ready = true;
    ELSE
        DELETE FROM webhooks_queueddelivery WHERE delivery_id = OLD.id;
    END IF;
    RETURN NULL;
END $function$;

CREATE TRIGGER queue_kept AFTER UPDATE ON webhooks_delivery FOR EACH ROW WHEN (((old.status::text = ANY (ARRAY['pending'::character varying::text, 'attempting'::character varying::text])) OR (new.status::text = ANY (ARRAY['pending'::character varying::text, 'attempting'::character varying::text]))) AND (old.endpoint_id IS DISTINCT FROM new.endpoint_id OR old.status::text IS DISTINCT FROM new.status::text OR old.attempts IS DISTINCT FROM new.attempts OR old.next_attempt_at IS DISTINCT FROM new.next_attempt_at OR old.claimed_until IS DISTINCT FROM new.claimed_until)) EXECUTE FUNCTION webhooks_keep_queue();

CREATE TRIGGER queue_of_gone AFTER DELETE ON webhooks_delivery FOR EACH ROW WHEN (old.status::text = ANY (ARRAY['pending'::character varying::text, 'attempting'::character varying::text])) EXECUTE FUNCTION webhooks_keep_queue();

CREATE TRIGGER queue_of_new AFTER INSERT ON webhooks_delivery FOR EACH ROW WHEN (new.status::text = ANY (ARRAY['pending'::character varying::text, 'attempting'::character varying::text])) EXECUTE FUNCTION webhooks_keep_queue();
