-- Counts a merchant anew: activated, verified or pending, under the platform it belongs to.
CREATE OR REPLACE FUNCTION stores_count_merchant(p_store_id uuid)
 RETURNS void
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'public', 'pg_temp'
AS $function$
DECLARE
    v_before public.stores_countedmerchant;
    v_now public.stores_countedmerchant;
BEGIN
    INSERT INTO public.stores_countedmerchant (store_id, is_activated, is_verified, is_pending)
        VALUES (p_store_id, false, false, false) ON CONFLICT DO NOTHING;
    SELECT * INTO v_before FROM public.stores_countedmerchant WHERE store_id = p_store_id
        FOR UPDATE;
    v_now := v_before;
    v_now.platform_id := NULL;
    SELECT s.platform_id, s.kyc_confirmed_at IS NOT NULL,
        EXISTS (SELECT FROM public.stores_verification v
            WHERE v.store_id = s.id AND v.status = 'approved'),
        s.kyc_confirmed_at IS NULL AND EXISTS (SELECT FROM public.stores_verification v
            WHERE v.store_id = s.id AND v.status = 'pending')
    INTO v_now.platform_id, v_now.is_activated, v_now.is_verified, v_now.is_pending
    FROM public.stores_store s WHERE s.id = p_store_id AND s.deleted_at IS NULL;
    IF v_now IS NOT DISTINCT FROM v_before THEN
        RETURN;
    END IF;
    UPDATE public.stores_countedmerchant SET platform_id = v_now.platform_id,
        is_activated = coalesce(v_now.is_activated, false),
        is_verified = coalesce(v_now.is_verified, false),
        is_pending = coalesce(v_now.is_pending, false) WHERE store_id = p_store_id;
    IF v_before.platform_id IS NOT NULL THEN
        PERFORM public.stores_add_merchants(v_before.platform_id, -1, v_before.is_activated,
            v_before.is_verified, v_before.is_pending);
    END IF;
    IF v_now.platform_id IS NOT NULL THEN
        PERFORM public.stores_add_merchants(v_now.platform_id, 1, v_now.is_activated,
            v_now.is_verified, v_now.is_pending);
    END IF;
END $function$;
