-- Refuses a role that may not delete from tables to make or drop partitions of them.
CREATE OR REPLACE FUNCTION partitions_allowed(p_parents regclass[])
 RETURNS void
 LANGUAGE plpgsql
 STABLE
 SET search_path TO 'public', 'pg_temp'
AS $function$
DECLARE
    v_role text := coalesce(nullif(current_setting('role'), 'none'), session_user);
    v_parent regclass;
BEGIN
    FOREACH v_parent IN ARRAY p_parents LOOP
        IF NOT EXISTS (SELECT 1 FROM pg_class WHERE oid = v_parent AND relkind = 'p'
            AND relowner = current_user::regrole AND relnamespace = 'public'::regnamespace)
            OR NOT has_table_privilege(v_role, v_parent, 'DELETE') THEN
            RAISE insufficient_privilege USING MESSAGE =
                format('%s may not make or drop partitions of %s', v_role, v_parent);
        END IF;
    END LOOP;
END $function$;
