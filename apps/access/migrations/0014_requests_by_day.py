"""The request log by days: what there is becomes the first partition of a table with its name, in an
instant. Processes of the previous release go on writing and reading by that name.
"""

import django.db.models.deletion
from django.db import migrations, models

SWAP = """
ALTER TABLE "access_requestentry" RENAME TO "access_requestentry_first";
DO $$
DECLARE
    v_index text;
BEGIN
    FOREACH v_index IN ARRAY ARRAY['request_of_store', 'request_by_key', 'request_by_id',
        'request_by_age'] LOOP
        EXECUTE format('ALTER INDEX %I RENAME TO %I', v_index, v_index || '_first');
    END LOOP;
END $$;
ALTER TABLE "access_requestentry_first" DROP CONSTRAINT "access_requestentry_pkey";
ALTER TABLE "access_requestentry_first" ADD CONSTRAINT "access_requestentry_first_pkey"
    PRIMARY KEY USING INDEX "request_of_a_time";
CREATE TABLE "access_requestentry" (LIKE "access_requestentry_first" INCLUDING DEFAULTS
    INCLUDING CONSTRAINTS INCLUDING STORAGE) PARTITION BY RANGE (created_at);
ALTER TABLE "access_requestentry" DROP CONSTRAINT "request_so_far";
ALTER TABLE "access_requestentry" ADD CONSTRAINT "access_requestentry_pkey"
    PRIMARY KEY (id, created_at);
"""
# What the roles may do and see goes with the name: requests are written by the previous release.
GRANTS = """
DO $$
DECLARE
    v record;
BEGIN
    FOR v IN SELECT e.grantee::regrole AS role, e.privilege_type
        FROM pg_class c, aclexplode(c.relacl) e
        WHERE c.oid = 'access_requestentry_first'::regclass AND e.grantee <> c.relowner LOOP
        EXECUTE format('GRANT %s ON access_requestentry TO %s', v.privilege_type, v.role);
        EXECUTE format('REVOKE %s ON access_requestentry_first FROM %s', v.privilege_type, v.role);
    END LOOP;
    FOR v IN SELECT p.polname, pg_get_expr(p.polqual, p.polrelid) AS qual,
            pg_get_expr(p.polwithcheck, p.polrelid) AS written,
            (SELECT string_agg(one::regrole::text, ', ') FROM unnest(p.polroles) one) AS roles
        FROM pg_policy p WHERE p.polrelid = 'access_requestentry_first'::regclass LOOP
        EXECUTE format('CREATE POLICY %I ON access_requestentry TO %s USING (%s)', v.polname,
            v.roles, v.qual) || coalesce(' WITH CHECK (' || v.written || ')', '');
        EXECUTE format('DROP POLICY %I ON access_requestentry_first', v.polname);
        ALTER TABLE access_requestentry ENABLE ROW LEVEL SECURITY;
        ALTER TABLE access_requestentry_first DISABLE ROW LEVEL SECURITY;
    END LOOP;
END $$
"""
# The index of stores alone isn't made again: another begins with them.
INDEXES = """
CREATE INDEX "request_of_store" ON "access_requestentry" (store_id, mode, created_at DESC);
CREATE INDEX "request_by_key" ON "access_requestentry" (store_id, idempotency_key)
    WHERE NOT (idempotency_key = '');
CREATE INDEX "request_by_id" ON "access_requestentry" (store_id, request_id);
CREATE INDEX "request_by_age" ON "access_requestentry" USING brin (created_at);
ALTER TABLE "access_requestentry" ADD CONSTRAINT
    "access_requestentry_store_id_fecc3e0c_fk_stores_store_id" FOREIGN KEY (store_id)
    REFERENCES stores_store (id) DEFERRABLE INITIALLY DEFERRED;
"""
# `rest` has no rows while days are made ahead.
ATTACH = """
DO $$
DECLARE
    v_end timestamptz := substring(pg_get_constraintdef(oid) FROM '''([^'']+)''')::timestamptz
        FROM pg_constraint WHERE conname = 'request_so_far';
BEGIN
    EXECUTE format('ALTER TABLE access_requestentry ATTACH PARTITION access_requestentry_first'
        ' FOR VALUES FROM (MINVALUE) TO (%L)', v_end);
    CREATE TABLE access_requestentry_rest PARTITION OF access_requestentry DEFAULT;
    ALTER TABLE access_requestentry_first DROP CONSTRAINT request_so_far;
END $$
"""


class Migration(migrations.Migration):
    dependencies = [
        ('access', '0013_requests_so_far_validated'),
        ('core', '0013_days_of_tables'),
    ]

    operations = [
        migrations.RunSQL("SET LOCAL lock_timeout = '5s'", migrations.RunSQL.noop),
        migrations.SeparateDatabaseAndState(
            [migrations.RunSQL(sql) for sql in (SWAP, INDEXES, ATTACH, GRANTS)],
            [
                migrations.AlterField(
                    model_name='requestentry',
                    name='store',
                    field=models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='stores.store'),
                )
            ],
        ),
    ]
