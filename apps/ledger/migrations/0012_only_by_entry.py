"""No checkpoint bears a transaction number any more: what understood both kinds goes by entries alone."""

from importlib import import_module

from django.db import migrations

both = import_module('apps.ledger.migrations.0010_checkpoints_by_entry')
first = import_module('apps.ledger.migrations.0001_squashed_0006_held_for_payments')

REBUILD = next(sql for sql in first.SQL if 'FUNCTION ledger_rebuild_checkpoints(' in sql)
# Nothing has to be rewritten after a restore. Whoever still says so is answered.
NOTHING_TO_REBUILD = r"""CREATE OR REPLACE FUNCTION ledger_rebuild_checkpoints() RETURNS void
    LANGUAGE plpgsql
    AS $$
BEGIN
END $$;"""
NONE_LEFT = """DO $$ BEGIN
    IF EXISTS (SELECT FROM ledger_account WHERE checkpoint_xid <> '0') THEN
        RAISE EXCEPTION 'a checkpoint still bears a transaction number: migrate ledger 0010, then again';
    END IF;
END $$"""


class Migration(migrations.Migration):

    dependencies = [
        ('ledger', '0011_checkpoints_moved'),
    ]

    operations = [
        migrations.RunSQL("SET LOCAL lock_timeout = '5s'", migrations.RunSQL.noop),
        migrations.RunSQL([NONE_LEFT, *both.BY_ENTRY], both.OF_BOTH),
        migrations.RunSQL(NOTHING_TO_REBUILD, REBUILD.replace('CREATE FUNCTION', 'CREATE OR REPLACE FUNCTION')),
    ]
