-- Refuses a role that may not insert into a table to make partitions of it; answers with the column
-- of its numbers.
CREATE OR REPLACE FUNCTION number_ranges_allowed(p_parent regclass)
 RETURNS name
 LANGUAGE plpgsql
 STABLE
 SET search_path TO 'public', 'pg_temp'
AS $function$
DECLARE
    v_role text := coalesce(nullif(current_setting('role'), 'none'), session_user);
    v_key name;
BEGIN
    SELECT a.attname INTO v_key
    FROM pg_class c JOIN pg_partitioned_table p ON p.partrelid = c.oid
        JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum = p.partattrs[0]
    WHERE c.oid = p_parent AND c.relowner = current_user::regrole
        AND c.relnamespace = 'public'::regnamespace AND p.partstrat = 'r' AND p.partnatts = 1
        AND a.atttypid = 'bigint'::regtype;
    IF v_key IS NULL OR NOT has_table_privilege(v_role, p_parent, 'INSERT') THEN
        RAISE insufficient_privilege USING MESSAGE =
            format('%s may not make ranges of %s', v_role, p_parent);
    END IF;
    RETURN v_key;
END $function$;
