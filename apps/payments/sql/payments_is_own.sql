-- Tells whether an address is of a merchant's own wallet.
CREATE OR REPLACE FUNCTION payments_is_own(p_address text)
 RETURNS boolean
 LANGUAGE sql
 STABLE
 SET search_path TO 'public', 'pg_temp'
AS $function$
    SELECT EXISTS (SELECT FROM chain_address WHERE address = p_address AND purpose = 'own')
$function$;
