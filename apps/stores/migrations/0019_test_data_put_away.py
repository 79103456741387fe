"""An owner puts the records of test mode away: they become those of a closed store of their own, an
archive. Whoever owns the tables moves them, from a store to its archive and never back.
"""

import django.db.models.deletion
from django.db import migrations, models

IS_PUT_AWAY = """
CREATE FUNCTION stores_is_put_away(p_from uuid, p_to uuid, p_mode text) RETURNS boolean
LANGUAGE sql STABLE SET search_path = public, pg_temp AS $$
    SELECT p_mode = 'test'
        AND current_user = (SELECT pg_get_userbyid(c.relowner) FROM pg_class c WHERE c.oid = 'public.stores_store'::regclass)
        AND EXISTS (SELECT FROM stores_store a WHERE a.id = p_to AND a.archive_of_id = p_from)
$$;
CREATE FUNCTION stores_origin(p_store uuid) RETURNS uuid
LANGUAGE sql STABLE SET search_path = public, pg_temp AS $$
    SELECT coalesce((SELECT a.archive_of_id FROM stores_store a WHERE a.id = p_store), p_store)
$$;
"""
KEPT = (
    "access_accesstoken",
    "access_agentcredential",
    "access_apikey",
    "access_grant",
    "access_refreshtoken",
    "assets_acceptedasset",
    "chain_ownwallet",
    "chain_walletchoice",
    "onramp_credential",
    "payments_hourlysum",
    "payments_paymentchange",
    "payments_paymentemail",
    "payments_soldspan",
    "payments_soldsum",
    "payouts_approvalrule",
    "stores_auditentry",
    "stores_workerorder",
    "webhooks_endpoint",
)
PUT_AWAY = f"""
CREATE FUNCTION stores_put_away(p_store uuid, p_ids uuid[]) RETURNS jsonb
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
DECLARE
    v_at timestamptz;
    v_stores uuid[];
    v_table text;
    v_count bigint;
    v_counts jsonb := '{{}}';
BEGIN
    PERFORM FROM stores_store WHERE id = p_store OR platform_id = p_store ORDER BY id FOR UPDATE;
    SELECT test_reset_at INTO v_at FROM stores_store WHERE id = p_store AND platform_id IS NULL AND archive_of_id IS NULL;
    IF v_at IS NULL THEN
        RAISE EXCEPTION 'nobody asked to put away the test data of store %', p_store USING ERRCODE = '42501';
    END IF;
    v_stores := ARRAY(SELECT id FROM stores_store WHERE id = p_store OR platform_id = p_store ORDER BY id <> p_store, id);
    IF NOT EXISTS (SELECT FROM stores_store WHERE archive_of_id = p_store AND deleted_at = v_at) THEN
        IF cardinality(p_ids) <> cardinality(v_stores) THEN
            RAISE EXCEPTION 'each store needs an archive' USING ERRCODE = '22023';
        END IF;
        INSERT INTO stores_store SELECT (jsonb_populate_record(s, jsonb_build_object(
            'id', p_ids[n.number], 'archive_of_id', s.id, 'created_at', v_at, 'deleted_at', v_at,
            'name', left(s.name, 75) || ' (past test data)', 'external_id', NULL, 'is_platform', false,
            'platform_id', CASE WHEN s.id = p_store THEN NULL ELSE p_ids[1] END,
            'kyc_confirmed_at', NULL, 'checkout_domain', '', 'checkout_domain_verified_at', NULL,
            'checkout_domain_checked_at', NULL, 'checkout_domain_problem', '', 'test_reset_at', NULL,
            'test_reset_moved_at', NULL, 'test_clock_target_seconds', NULL))).*
        FROM unnest(v_stores) WITH ORDINALITY AS n(id, number) JOIN stores_store s ON s.id = n.id ORDER BY n.number;
    END IF;
    -- Payments first: whoever settles or refunds one has its lock before those of its accounts. Twice: what was
    -- committed while this waited for a lock is found the second time.
    FOR v_table IN
        SELECT c.relname FROM (VALUES (1), (2)) AS round(number), pg_class c
        WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'p') AND NOT c.relispartition
            AND c.relname <> ALL (ARRAY[{", ".join(f"'{name}'" for name in KEPT)}])
            AND 2 = (SELECT count(*) FROM pg_attribute a WHERE a.attrelid = c.oid AND NOT a.attisdropped
                AND a.attname IN ('store_id', 'mode'))
        ORDER BY round.number, c.relname <> 'payments_payment', c.relname
    LOOP
        EXECUTE format('UPDATE %I t SET store_id = a.id FROM stores_store a WHERE a.archive_of_id = t.store_id'
            ' AND a.deleted_at = $2 AND t.store_id = ANY ($1) AND t.mode = ''test'' %s', v_table,
            -- What the signer has still to sign is approved for the store that it says.
            CASE v_table WHEN 'chain_outgoingtransaction' THEN 'AND t.status <> ''requested''' ELSE '' END)
            USING v_stores, v_at;
        GET DIAGNOSTICS v_count = ROW_COUNT;
        IF v_count > 0 THEN
            v_counts := v_counts || jsonb_build_object(v_table, v_count + coalesce((v_counts ->> v_table)::bigint, 0));
        END IF;
    END LOOP;
    UPDATE payments_payment t SET platform_id = a.id FROM stores_store a
        WHERE a.archive_of_id = t.platform_id AND a.deleted_at = v_at AND t.platform_id = p_store AND t.mode = 'test';
    UPDATE chain_unmatchedtransfer t SET store_id = a.id FROM stores_store a, chain_address d
        WHERE a.archive_of_id = t.store_id AND a.deleted_at = v_at AND t.store_id = ANY (v_stores)
            AND d.address = t.address_id AND d.mode = 'test';
    UPDATE webhooks_delivery t SET status = 'ignored', next_attempt_at = NULL, claimed_until = NULL FROM stores_store a
        WHERE a.id = t.store_id AND a.archive_of_id = ANY (v_stores) AND a.deleted_at = v_at
            AND t.status IN ('pending', 'attempting');
    UPDATE stores_member SET test_read_at = NULL WHERE store_id = ANY (v_stores) AND test_read_at IS NOT NULL;
    UPDATE stores_store SET test_offset_seconds = 0, test_clock_target_seconds = NULL
        WHERE id = ANY (v_stores) AND (test_offset_seconds, test_clock_target_seconds) IS DISTINCT FROM (0, NULL);
    RETURN v_counts;
END $$;
"""
# Of the function of migration 0017: an archive may nothing, and a store nothing in test mode while
# its records are put away.
REFUSE_SUSPENDED = """
CREATE OR REPLACE FUNCTION stores_refuse_suspended() RETURNS trigger
LANGUAGE plpgsql SET search_path = public, pg_temp AS $$
DECLARE
    v_platform_id uuid := (SELECT platform_id FROM stores_store WHERE id = NEW.store_id);
BEGIN
    IF TG_ARGV[0] = 'payouts' THEN
        PERFORM FROM stores_store WHERE id IN (NEW.store_id, v_platform_id) ORDER BY id FOR SHARE;
    END IF;
    PERFORM FROM stores_store WHERE id IN (NEW.store_id, v_platform_id)
        AND (CASE TG_ARGV[0] WHEN 'payouts' THEN payouts_suspended_at ELSE payments_suspended_at END IS NOT NULL
            OR archive_of_id IS NOT NULL OR NEW.mode = 'test' AND test_reset_at IS NOT NULL);
    IF FOUND THEN
        RAISE EXCEPTION 'the % of store % are suspended', TG_ARGV[0], NEW.store_id
            USING ERRCODE = 'check_violation', CONSTRAINT = 'store_' || TG_ARGV[0] || '_suspended';
    END IF;
    RETURN NEW;
END $$;
"""


class Migration(migrations.Migration):
    dependencies = [("stores", "0018_worker_orders")]

    operations = [
        migrations.RunSQL("SET LOCAL lock_timeout = '5s'", migrations.RunSQL.noop),
        migrations.AddField(
            model_name="store",
            name="archive_of",
            field=models.ForeignKey(
                blank=True,
                db_index=False,
                null=True,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="+",
                to="stores.store",
            ),
        ),
        *(
            migrations.AddField(
                model_name="store", name=name, field=models.DateTimeField(blank=True, null=True)
            )
            for name in ("test_reset_at", "test_reset_moved_at")
        ),
        migrations.RunSQL(IS_PUT_AWAY, "DROP FUNCTION stores_origin, stores_is_put_away"),
        migrations.RunSQL(PUT_AWAY, "DROP FUNCTION stores_put_away"),
        migrations.RunSQL(REFUSE_SUSPENDED, migrations.RunSQL.noop),
    ]
