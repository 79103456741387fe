-- Refreshes the statistics of partitioned tables that are a week old, which autovacuum leaves
-- alone.
CREATE OR REPLACE FUNCTION partitions_analyze()
 RETURNS void
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'public', 'pg_temp'
 SET lock_timeout TO '300ms'
AS $function$
DECLARE
    v_table regclass;
BEGIN
    FOR v_table IN SELECT c.oid FROM pg_class c LEFT JOIN pg_stat_user_tables s ON s.relid = c.oid
        WHERE c.relkind = 'p' AND c.relnamespace = 'public'::regnamespace
            AND c.relowner = current_user::regrole
            AND coalesce(s.last_analyze < now() - interval '7 days', true) LOOP
        EXECUTE format('ANALYZE ONLY %s', v_table);
    END LOOP;
END $function$;
