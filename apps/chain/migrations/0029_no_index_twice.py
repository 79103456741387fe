"""The unique index of a candidate's hash serves what looks for its beginning as well."""

from django.db import migrations


class Migration(migrations.Migration):
    atomic = False
    dependencies = [("chain", "0028_spends_stand_for_nonces")]

    operations = [
        migrations.RunSQL(
            "DROP INDEX CONCURRENTLY IF EXISTS chain_spendcandidate_tx_hash_26ec4480_like",
            migrations.RunSQL.noop,
        ),
    ]
