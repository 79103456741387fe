"""Nobody asks for an account's entries in the order of transactions any more."""

from django.db import migrations


class Migration(migrations.Migration):
    atomic = False

    dependencies = [
        ('ledger', '0012_only_by_entry'),
    ]

    operations = [
        migrations.RunSQL(
            'DROP INDEX CONCURRENTLY IF EXISTS entry_of_account',
            'CREATE INDEX CONCURRENTLY entry_of_account ON ledger_entry USING btree (account_id, xid, id) INCLUDE (amount_atomic)',
        ),
    ]
