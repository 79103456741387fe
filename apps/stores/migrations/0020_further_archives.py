"""Rows that a job writes while test data is put away, and the archive has already, go to a further
archive: the reset doesn't stop at them."""

from django.db import migrations

PUT_AWAY = """
CREATE OR REPLACE FUNCTION stores_put_away(p_store uuid, p_ids uuid[])
 RETURNS jsonb
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'public', 'pg_temp'
AS $$
DECLARE
    v_at timestamptz;
    v_moved timestamptz;
    v_target timestamptz;
    v_stores uuid[];
    v_table text;
    v_count bigint;
    v_counts jsonb := '{}';
BEGIN
    PERFORM FROM stores_store WHERE id = p_store OR platform_id = p_store ORDER BY id FOR UPDATE;
    SELECT test_reset_at, test_reset_moved_at INTO v_at, v_moved FROM stores_store WHERE id = p_store AND platform_id IS NULL AND archive_of_id IS NULL;
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
            AND c.relname <> ALL (ARRAY['access_accesstoken', 'access_agentcredential', 'access_apikey', 'access_grant', 'access_refreshtoken', 'assets_acceptedasset', 'chain_ownwallet', 'chain_walletchoice', 'onramp_credential', 'payments_hourlysum', 'payments_paymentchange', 'payments_paymentemail', 'payments_soldspan', 'payments_soldsum', 'payouts_approvalrule', 'stores_auditentry', 'stores_workerorder', 'webhooks_endpoint'])
            AND 2 = (SELECT count(*) FROM pg_attribute a WHERE a.attrelid = c.oid AND NOT a.attisdropped
                AND a.attname IN ('store_id', 'mode'))
        ORDER BY round.number, c.relname <> 'payments_payment', c.relname
    LOOP
        v_target := v_at;
        LOOP
            BEGIN
                EXECUTE format('UPDATE %I t SET store_id = a.id FROM stores_store a WHERE a.archive_of_id = t.store_id'
                    ' AND a.deleted_at = $2 AND t.store_id = ANY ($1) AND t.mode = ''test'' %s', v_table,
                    -- What the signer has still to sign is approved for the store that it says.
                    CASE v_table WHEN 'chain_outgoingtransaction' THEN 'AND t.status <> ''requested''' ELSE '' END)
                    USING v_stores, v_target;
                GET DIAGNOSTICS v_count = ROW_COUNT;
                EXIT;
            EXCEPTION WHEN unique_violation THEN
                IF v_moved IS NULL OR v_target = v_moved THEN
                    RAISE;
                END IF;
                -- A job has written again what the archive has already, an account or a notification: it goes
                -- to a further archive.
                v_target := v_moved;
                INSERT INTO stores_store SELECT (jsonb_populate_record(a, jsonb_build_object(
                    'id', gen_random_uuid(), 'created_at', v_moved, 'deleted_at', v_moved))).*
                FROM stores_store a WHERE a.archive_of_id = ANY (v_stores) AND a.deleted_at = v_at
                    AND NOT EXISTS (SELECT FROM stores_store b
                        WHERE b.archive_of_id = a.archive_of_id AND b.deleted_at = v_moved);
            END;
        END LOOP;
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
        WHERE a.id = t.store_id AND a.archive_of_id = ANY (v_stores) AND (a.deleted_at = v_at OR a.deleted_at = v_moved)
            AND t.status IN ('pending', 'attempting');
    UPDATE stores_member SET test_read_at = NULL WHERE store_id = ANY (v_stores) AND test_read_at IS NOT NULL;
    UPDATE stores_store SET test_offset_seconds = 0, test_clock_target_seconds = NULL
        WHERE id = ANY (v_stores) AND (test_offset_seconds, test_clock_target_seconds) IS DISTINCT FROM (0, NULL);
    RETURN v_counts;
END $$;
"""


class Migration(migrations.Migration):
    dependencies = [("stores", "0019_test_data_put_away")]

    operations = [
        migrations.RunSQL("SET LOCAL lock_timeout = '5s'", migrations.RunSQL.noop),
        migrations.RunSQL(PUT_AWAY, migrations.RunSQL.noop),
    ]
