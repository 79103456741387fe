-- Refuses to change or delete a daily rate.
CREATE OR REPLACE FUNCTION assets_refuse_change()
 RETURNS trigger
 LANGUAGE plpgsql
 SET search_path TO 'public', 'pg_temp'
AS $function$
BEGIN
    RAISE EXCEPTION '% of % is refused: it is append-only', TG_OP, TG_TABLE_NAME USING ERRCODE = '23001';
END $function$;

CREATE TRIGGER daily_rate_append_only BEFORE DELETE OR UPDATE ON assets_dailyrate FOR EACH ROW EXECUTE FUNCTION assets_refuse_change();
