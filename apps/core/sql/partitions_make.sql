-- Makes a partition of each table for a span of its key, with the foreign keys of its rows.
CREATE OR REPLACE FUNCTION partitions_make(p_tables text[], p_suffix text, p_from text, p_to text)
 RETURNS void
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'public', 'pg_temp'
 SET lock_timeout TO '300ms'
 SET "TimeZone" TO 'UTC'
AS $function$
DECLARE
    v_parent regclass;
    v_name text;
    v_reference record;
BEGIN
    PERFORM partitions_allowed(p_tables::regclass[]);
    FOREACH v_parent IN ARRAY p_tables::regclass[] LOOP
        v_name := v_parent || '_' || p_suffix;
        EXECUTE format('LOCK TABLE %s IN SHARE UPDATE EXCLUSIVE MODE', v_parent);
        CONTINUE WHEN to_regclass(v_name) IS NOT NULL;
        EXECUTE format('CREATE TABLE %I (LIKE %s INCLUDING DEFAULTS INCLUDING CONSTRAINTS'
            ' INCLUDING GENERATED INCLUDING STORAGE)', v_name, v_parent);
        FOR v_reference IN SELECT conname, replace(pg_get_constraintdef(oid), '_rest(',
                '_' || p_suffix || '(') AS definition FROM pg_constraint
            WHERE conrelid = to_regclass(v_parent || '_rest') AND contype = 'f'
                AND conparentid = 0 LOOP
            EXECUTE format('ALTER TABLE %I ADD CONSTRAINT %I %s', v_name, v_reference.conname,
                v_reference.definition);
        END LOOP;
        EXECUTE format('ALTER TABLE %s ATTACH PARTITION %I FOR VALUES FROM (%L) TO (%L)',
            v_parent, v_name, p_from, p_to);
    END LOOP;
END $function$;
