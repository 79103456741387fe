-- Notes the last id before entries are written, so that the check can tell ids that were drawn for
-- them.
CREATE OR REPLACE FUNCTION ledger_begin_entries()
 RETURNS trigger
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'public', 'pg_temp'
AS $function$
DECLARE
    own xid8;
    last_id text;
BEGIN
    own := pg_catalog.pg_current_xact_id();
    last_id := pg_catalog.set_config('tillgate.last_entry', coalesce(
        pg_catalog.pg_sequence_last_value('public.ledger_entry_id_seq'::pg_catalog.regclass), 0)::pg_catalog.text, true);
    RETURN NULL;
END $function$;

CREATE TRIGGER entry_begun BEFORE INSERT ON ledger_entry FOR EACH STATEMENT EXECUTE FUNCTION ledger_begin_entries();
