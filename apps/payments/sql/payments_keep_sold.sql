-- Adds what was sold in a day to the sums of its month, of the last 30 days and of the platform.
CREATE OR REPLACE FUNCTION payments_keep_sold()
 RETURNS trigger
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'public', 'pg_temp'
AS $function$
DECLARE
    v_added public.payments_soldsum[] := '{}';
    v_taken public.payments_soldsum[] := '{}';
    v_last date;
BEGIN
    IF TG_OP <> 'DELETE' THEN
        v_added := ARRAY(SELECT a FROM added a);
    END IF;
    IF TG_OP <> 'INSERT' THEN
        v_taken := ARRAY(SELECT t FROM taken t);
    END IF;
    SELECT t.row_id::date INTO v_last FROM public.core_rowturn t
        WHERE t.job = 'payments.sum_hours:recent' FOR SHARE;
    WITH change AS (
        SELECT platform_id, mode, day, store_id, currency, payments, cents FROM unnest(v_added)
        UNION ALL
        SELECT platform_id, mode, day, store_id, currency, -payments, -cents FROM unnest(v_taken)
    ), spans AS (
        INSERT INTO public.payments_soldspan AS known (platform_id, mode, span, store_id, currency,
            payments, cents)
        SELECT c.platform_id, c.mode, s.span, c.store_id, c.currency, sum(c.payments), sum(c.cents)
        FROM change c CROSS JOIN LATERAL (
            SELECT to_char(c.day::timestamp, 'YYYY-MM') AS span
            UNION ALL SELECT 'recent' WHERE c.day <= v_last AND c.day > v_last - 30
        ) s GROUP BY 1, 2, 3, 4, 5 HAVING (sum(c.payments), sum(c.cents)) <> (0, 0)
        ORDER BY 1, 2, 3, 4, 5
        ON CONFLICT (platform_id, mode, span, store_id, currency) DO UPDATE SET
            payments = known.payments + excluded.payments, cents = known.cents + excluded.cents
    )
    INSERT INTO public.payments_platformsum AS known (platform_id, mode, day, currency, payments,
        cents)
    SELECT platform_id, mode, day, currency, sum(payments), sum(cents)
    FROM change GROUP BY 1, 2, 3, 4 HAVING (sum(payments), sum(cents)) <> (0, 0)
    ORDER BY 1, 2, 3, 4
    ON CONFLICT (platform_id, mode, day, currency) DO UPDATE SET
        payments = known.payments + excluded.payments, cents = known.cents + excluded.cents;
    IF v_taken <> '{}' THEN
        DELETE FROM public.payments_soldspan s
        USING (SELECT DISTINCT platform_id, mode, day, store_id, currency FROM unnest(v_taken)) t
        WHERE s.platform_id = t.platform_id AND s.mode = t.mode AND s.store_id = t.store_id
            AND s.span IN ('recent', to_char(t.day::timestamp, 'YYYY-MM'))
            AND s.currency = t.currency AND s.payments = 0 AND s.cents = 0;
        DELETE FROM public.payments_platformsum s
        USING (SELECT DISTINCT platform_id, mode, day, currency FROM unnest(v_taken)) t
        WHERE s.platform_id = t.platform_id AND s.mode = t.mode AND s.day = t.day
            AND s.currency = t.currency AND s.payments = 0 AND s.cents = 0;
    END IF;
    RETURN NULL;
END $function$;

CREATE TRIGGER sold_added AFTER INSERT ON payments_soldsum REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION payments_keep_sold();

CREATE TRIGGER sold_changed AFTER UPDATE ON payments_soldsum REFERENCING OLD TABLE AS taken NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION payments_keep_sold();

CREATE TRIGGER sold_taken AFTER DELETE ON payments_soldsum REFERENCING OLD TABLE AS taken FOR EACH STATEMENT EXECUTE FUNCTION payments_keep_sold();
