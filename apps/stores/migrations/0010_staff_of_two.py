"""The web's role makes nobody a member of staff by itself: two of the staff have decided that, or it
is the role that only reads.
"""

from django.db import migrations

# `role` is what a session has set itself to; who hasn't is who has signed in. In a function of the
# owner current_user would be the owner.
_IS_WEB = "coalesce(nullif(current_setting('role'), 'none'), session_user) = 'tillgate_web'"
FORWARD = f"""
CREATE FUNCTION stores_guard_user() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
DECLARE
    had text[] := CASE WHEN TG_OP = 'UPDATE' THEN OLD.staff_roles::text[] ELSE ARRAY[]::text[] END;
    is_more boolean := NOT (NEW.staff_roles::text[] <@ (had || ARRAY['support'])) OR (NEW.is_staff AND NEW.staff_roles = '{{}}');
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
END $$;
CREATE TRIGGER user_made_staff_by_two BEFORE INSERT OR UPDATE OF is_superuser, is_staff, staff_roles ON stores_user
    FOR EACH ROW WHEN ({_IS_WEB}) EXECUTE FUNCTION stores_guard_user();
"""
BACKWARD = """
DROP TRIGGER user_made_staff_by_two ON stores_user;
DROP FUNCTION stores_guard_user;
"""


class Migration(migrations.Migration):
    dependencies = [("stores", "0009_platform_fee_notices")]

    operations = [
        migrations.RunSQL("SET LOCAL lock_timeout = '5s'", migrations.RunSQL.noop),
        migrations.RunSQL(FORWARD, BACKWARD),
    ]
