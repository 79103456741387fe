-- Makes the next partition of a table by its number before the present one is half full, under
-- short locks.
CREATE OR REPLACE FUNCTION number_range_make(p_parent regclass)
 RETURNS void
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'public', 'pg_temp'
 SET lock_timeout TO '300ms'
AS $function$
DECLARE
    c_rows CONSTANT bigint := 50000000;
    c_step CONSTANT bigint := 1000000;
    v_key name := number_ranges_allowed(p_parent);
    v_newest bigint;
    v_end bigint;
    v_name text;
    v_locked boolean := false;
    v_table regclass;
BEGIN
    LOOP
        EXECUTE format('SELECT coalesce(max(%I), 0) FROM %s', v_key, p_parent) INTO v_newest;
        SELECT max(bound::bigint) INTO v_end FROM (
            SELECT substring(pg_get_expr(c.relpartbound, c.oid) FROM 'TO \(''(\d+)''\)') AS bound
            FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid WHERE i.inhparent = p_parent
        ) bounds;
        IF v_end - v_newest >= c_rows / 2 THEN
            RETURN;
        END IF;
        EXIT WHEN v_locked;
        FOR v_table IN SELECT DISTINCT confrelid FROM pg_constraint
            WHERE conrelid = p_parent AND contype = 'f' ORDER BY 1 LOOP
            EXECUTE format('LOCK TABLE %s IN SHARE ROW EXCLUSIVE MODE', v_table);
        END LOOP;
        EXECUTE format('LOCK TABLE ONLY %s IN SHARE UPDATE EXCLUSIVE MODE', p_parent);
        EXECUTE format('LOCK TABLE %I IN ACCESS EXCLUSIVE MODE', p_parent::text || '_rest');
        v_locked := true;
    END LOOP;
    IF v_newest >= v_end THEN
        v_end := (v_newest / c_step + 1) * c_step;
    END IF;
    v_name := p_parent::text || '_' || v_end;
    EXECUTE format('CREATE TABLE %I (LIKE %s INCLUDING DEFAULTS INCLUDING CONSTRAINTS'
        ' INCLUDING STORAGE)', v_name, p_parent);
    EXECUTE format('ALTER TABLE %s ATTACH PARTITION %I FOR VALUES FROM (%s) TO (%s)',
        p_parent, v_name, v_end, (v_end / c_rows + 1) * c_rows);
END $function$;
