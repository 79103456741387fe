-- Drops a partition of each table, and refuses while rows of it wait in another table.
CREATE OR REPLACE FUNCTION partitions_drop(p_tables text[], p_suffix text, p_waiting text)
 RETURNS void
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'public', 'pg_temp'
 SET lock_timeout TO '300ms'
AS $function$
DECLARE
    v_parent regclass;
    v_name text;
    v_key text;
    v_bounds text[];
    v_waits boolean;
BEGIN
    PERFORM partitions_allowed(p_tables::regclass[]);
    FOREACH v_parent IN ARRAY p_tables::regclass[] LOOP
        v_name := v_parent || '_' || p_suffix;
        IF NOT EXISTS (SELECT 1 FROM pg_inherits WHERE inhparent = v_parent
            AND inhrelid = to_regclass(v_name)) THEN
            RAISE EXCEPTION '% is no partition of %', v_name, v_parent;
        END IF;
        EXECUTE format('LOCK TABLE %s IN ACCESS EXCLUSIVE MODE', v_parent);
    END LOOP;
    IF p_waiting IS NOT NULL THEN
        SELECT a.attname INTO STRICT v_key FROM pg_index i JOIN pg_attribute a
            ON a.attrelid = i.indrelid AND a.attnum = i.indkey[0]
            WHERE i.indrelid = p_waiting::regclass AND i.indisprimary;
        SELECT regexp_match(pg_get_expr(relpartbound, oid), 'FROM \((.+)\) TO \((.+)\)')
            INTO STRICT v_bounds FROM pg_class WHERE oid = to_regclass(v_name);
        EXECUTE format('SELECT EXISTS (SELECT 1 FROM %s WHERE %s AND %s)', p_waiting::regclass,
            CASE v_bounds[1] WHEN 'MINVALUE' THEN 'true'
                ELSE format('%I >= %s', v_key, v_bounds[1]) END,
            CASE v_bounds[2] WHEN 'MAXVALUE' THEN 'true'
                ELSE format('%I < %s', v_key, v_bounds[2]) END) INTO v_waits;
        IF v_waits THEN
            RAISE object_in_use USING MESSAGE = format('%s has rows of %s', p_waiting, v_name);
        END IF;
    END IF;
    FOR v_name IN SELECT named || '_' || p_suffix
        FROM unnest(p_tables) WITH ORDINALITY AS n (named, place) ORDER BY place DESC LOOP
        EXECUTE format('DROP TABLE %I', v_name);
    END LOOP;
END $function$;
