-- The number of a transaction that begins now: later than every one that has written so far.
CREATE OR REPLACE FUNCTION ledger_fresh_transaction()
 RETURNS xid8
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'public', 'pg_temp'
AS $function$
DECLARE
    own bigint := pg_current_xact_id()::text::bigint;
    fresh bigint;
BEGIN
    BEGIN
        INSERT INTO ledger_tick DEFAULT VALUES RETURNING xmin::text::bigint INTO fresh;
        RAISE EXCEPTION 'its number is all that was wanted' USING ERRCODE = 'TG002';
    EXCEPTION WHEN SQLSTATE 'TG002' THEN
        NULL;
    END;
    RETURN (own + (fresh - own % 4294967296 + 4294967296) % 4294967296)::text::xid8;
END $function$;
