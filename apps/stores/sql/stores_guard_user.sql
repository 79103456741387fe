-- Refuses the web to give a person staff roles that two members of staff haven't decided within the
-- hour.
CREATE OR REPLACE FUNCTION stores_guard_user()
 RETURNS trigger
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'public', 'pg_temp'
AS $function$
DECLARE
    had text[] := CASE WHEN TG_OP = 'UPDATE' THEN OLD.staff_roles::text[] ELSE ARRAY[]::text[] END;
    is_more boolean := NOT (NEW.staff_roles::text[] <@ (had || ARRAY['support'])) OR (NEW.is_staff AND NEW.staff_roles = '{}');
BEGIN
    IF TG_OP = 'UPDATE' AND OLD.is_superuser THEN
        RETURN NEW;
    END IF;
    IF NEW.is_superuser OR TG_OP = 'INSERT' AND NEW.is_staff OR is_more AND NOT EXISTS (
        SELECT FROM stores_staffrequest s
        WHERE s.kind = 'staff_roles' AND s.target_id = NEW.id::text AND s.state = 'approved'
            AND s.decided_at > now() - interval '1 hour'
            AND (SELECT array_agg(role) FROM jsonb_array_elements_text(s.content::jsonb -> 'wanted' -> 'roles') role)
                @> NEW.staff_roles::text[]
    ) THEN
        RAISE EXCEPTION 'permission denied for the roles of %: two members of staff decide them', NEW.id
            USING ERRCODE = '42501';
    END IF;
    RETURN NEW;
END $function$;

CREATE TRIGGER user_made_staff_by_two BEFORE INSERT OR UPDATE OF is_superuser, is_staff, staff_roles ON stores_user FOR EACH ROW WHEN (COALESCE(NULLIF(current_setting('role'::text), 'none'::text), SESSION_USER::text) = 'tillgate_web'::text) EXECUTE FUNCTION stores_guard_user();
