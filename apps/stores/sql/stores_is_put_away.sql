-- Says whether a row may go from a store to an archive of it: in test mode, by the owner of the
-- tables alone.
CREATE OR REPLACE FUNCTION stores_is_put_away(p_from uuid, p_to uuid, p_mode text)
 RETURNS boolean
 LANGUAGE sql
 STABLE
 SET search_path TO 'public', 'pg_temp'
AS $function$
    SELECT p_mode = 'test'
        AND current_user = (SELECT pg_get_userbyid(c.relowner) FROM pg_class c WHERE c.oid = 'public.stores_store'::regclass)
        AND EXISTS (SELECT FROM stores_store a WHERE a.id = p_to AND a.archive_of_id = p_from)
$function$;
