-- Notes what a new, changed or deleted payment adds to or takes from the sums by hour.
CREATE OR REPLACE FUNCTION payments_keep_change()
 RETURNS trigger
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'public', 'pg_temp'
AS $function$
DECLARE
    v_net bigint;
BEGIN
    IF TG_OP <> 'INSERT' AND OLD.completed_at IS NOT NULL THEN
        SELECT n.net_cents INTO v_net FROM public.payments_paymentnet n WHERE n.payment_id = OLD.id;
    END IF;
    IF TG_OP <> 'INSERT' THEN
        INSERT INTO public.payments_paymentchange (store_id, mode, platform_id, hour, sold_on,
            currency, status, payments, completed, completed_cents, nets, net_cents)
        VALUES (OLD.store_id, OLD.mode, OLD.platform_id, date_trunc('hour', OLD.created_at, 'UTC'),
            (OLD.completed_at AT TIME ZONE 'UTC')::date, OLD.settlement_currency, OLD.status, -1,
            -(OLD.completed_at IS NOT NULL)::int,
            CASE WHEN OLD.completed_at IS NULL THEN 0 ELSE -OLD.settlement_amount_cents END,
            -(v_net IS NOT NULL)::int, -coalesce(v_net, 0));
    END IF;
    IF TG_OP <> 'DELETE' THEN
        INSERT INTO public.payments_paymentchange (store_id, mode, platform_id, hour, sold_on,
            currency, status, payments, completed, completed_cents, nets, net_cents)
        VALUES (NEW.store_id, NEW.mode, NEW.platform_id, date_trunc('hour', NEW.created_at, 'UTC'),
            (NEW.completed_at AT TIME ZONE 'UTC')::date, NEW.settlement_currency, NEW.status, 1,
            (NEW.completed_at IS NOT NULL)::int,
            CASE WHEN NEW.completed_at IS NULL THEN 0 ELSE NEW.settlement_amount_cents END,
            (v_net IS NOT NULL)::int, coalesce(v_net, 0));
    END IF;
    RETURN NULL;
END $function$;

CREATE TRIGGER change_kept AFTER UPDATE ON payments_payment FOR EACH ROW WHEN (old.status::text IS DISTINCT FROM new.status::text OR old.completed_at IS DISTINCT FROM new.completed_at OR old.settlement_currency::text IS DISTINCT FROM new.settlement_currency::text OR old.settlement_amount_cents IS DISTINCT FROM new.settlement_amount_cents OR old.store_id IS DISTINCT FROM new.store_id OR old.mode::text IS DISTINCT FROM new.mode::text OR old.platform_id IS DISTINCT FROM new.platform_id OR old.created_at IS DISTINCT FROM new.created_at) EXECUTE FUNCTION payments_keep_change();

CREATE TRIGGER change_of_new AFTER INSERT OR DELETE ON payments_payment FOR EACH ROW EXECUTE FUNCTION payments_keep_change();
