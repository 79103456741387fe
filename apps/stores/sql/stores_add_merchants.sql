-- Adds to the counts of a platform's merchants, in a row of its own when others are being written.
CREATE OR REPLACE FUNCTION stores_add_merchants(p_platform_id uuid, p_by integer, p_activated boolean, p_verified boolean, p_pending boolean)
 RETURNS void
 LANGUAGE sql
 SECURITY DEFINER
 SET search_path TO 'public', 'pg_temp'
AS $function$
    WITH gone AS (
        DELETE FROM public.stores_merchantcount WHERE id IN (
            SELECT id FROM public.stores_merchantcount WHERE store_id = p_platform_id
            FOR UPDATE SKIP LOCKED
        ) RETURNING accounts, activated, verified, pending
    )
    INSERT INTO public.stores_merchantcount (store_id, accounts, activated, verified, pending)
    SELECT p_platform_id, coalesce(sum(accounts), 0) + p_by,
        coalesce(sum(activated), 0) + p_by * p_activated::int,
        coalesce(sum(verified), 0) + p_by * p_verified::int,
        coalesce(sum(pending), 0) + p_by * p_pending::int
    FROM gone
$function$;
