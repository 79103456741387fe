-- Finds the agent credential of a hash for the web, which can't read other stores' rows before it
-- knows the store.
CREATE OR REPLACE FUNCTION access_agentcredential_by_hash(p_hash bytea)
 RETURNS SETOF access_agentcredential
 LANGUAGE plpgsql
 STABLE SECURITY DEFINER ROWS 1
 SET search_path TO 'public', 'pg_temp'
AS $function$
BEGIN
    RETURN QUERY SELECT * FROM public.access_agentcredential WHERE secret_hash OPERATOR(pg_catalog.=) p_hash;
END $function$;
