"""An account's entries by their ids, which every order and boundary of the books goes by."""

from django.db import migrations


class Migration(migrations.Migration):
    atomic = False

    dependencies = [
        ('ledger', '0008_one_index_a_column'),
    ]

    operations = [
        migrations.RunSQL(
            'CREATE INDEX CONCURRENTLY entry_in_account ON ledger_entry USING btree (account_id, id) INCLUDE (amount_atomic)',
            'DROP INDEX CONCURRENTLY IF EXISTS entry_in_account',
        ),
    ]
