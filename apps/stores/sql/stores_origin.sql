-- Finds the store whose records an archive has; any other store is its own.
CREATE OR REPLACE FUNCTION stores_origin(p_store uuid)
 RETURNS uuid
 LANGUAGE sql
 STABLE
 SET search_path TO 'public', 'pg_temp'
AS $function$
    SELECT coalesce((SELECT a.archive_of_id FROM stores_store a WHERE a.id = p_store), p_store)
$function$;
