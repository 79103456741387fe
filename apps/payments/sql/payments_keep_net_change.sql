-- Notes what the net of a payment adds to or takes from the sums by hour.
CREATE OR REPLACE FUNCTION payments_keep_net_change()
 RETURNS trigger
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'public', 'pg_temp'
AS $function$
DECLARE
    v_payment_id uuid := CASE TG_OP WHEN 'DELETE' THEN OLD.payment_id ELSE NEW.payment_id END;
    v_nets int := CASE TG_OP WHEN 'INSERT' THEN 1 WHEN 'DELETE' THEN -1 ELSE 0 END;
    v_cents bigint := CASE TG_OP WHEN 'DELETE' THEN 0 ELSE NEW.net_cents END
        - CASE TG_OP WHEN 'INSERT' THEN 0 ELSE OLD.net_cents END;
BEGIN
    INSERT INTO public.payments_paymentchange (store_id, mode, platform_id, hour, currency, status,
        payments, completed, completed_cents, nets, net_cents)
    SELECT p.store_id, p.mode, p.platform_id, date_trunc('hour', p.created_at, 'UTC'),
        p.settlement_currency, p.status, 0, 0, 0, v_nets, v_cents
    FROM public.payments_payment p WHERE p.id = v_payment_id;
    RETURN NULL;
END $function$;

CREATE TRIGGER net_change_kept AFTER UPDATE ON payments_paymentnet FOR EACH ROW WHEN (old.net_cents <> new.net_cents) EXECUTE FUNCTION payments_keep_net_change();

CREATE TRIGGER net_change_of_new AFTER INSERT OR DELETE ON payments_paymentnet FOR EACH ROW EXECUTE FUNCTION payments_keep_net_change();
