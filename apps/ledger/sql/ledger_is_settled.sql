-- Whether every transaction before this one has ended.
CREATE OR REPLACE FUNCTION ledger_is_settled(p_xid xid8)
 RETURNS boolean
 LANGUAGE sql
 STABLE
AS $function$
    SELECT pg_snapshot_xmax(seen) > p_xid AND NOT EXISTS (
        SELECT FROM pg_snapshot_xip(seen) running
        WHERE running < p_xid AND running IS DISTINCT FROM pg_current_xact_id_if_assigned())
    FROM pg_current_snapshot() seen
$function$;
