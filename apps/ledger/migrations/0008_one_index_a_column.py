"""What Django adds for LIKE stood beside another index of the same column, and nobody asks for the
beginning of a coin or an address with it."""

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    atomic = False

    dependencies = [
        ('ledger', '0007_cold_and_withdrawals'),
    ]

    operations = [
        migrations.RunSQL('DROP INDEX CONCURRENTLY IF EXISTS ledger_account_asset_id_f82d3213_like', migrations.RunSQL.noop),
        migrations.SeparateDatabaseAndState(
            [
                migrations.RunSQL(
                    'DROP INDEX CONCURRENTLY IF EXISTS ledger_account_store_id_bcb51143',
                    migrations.RunSQL.noop,
                )
            ],
            [
                migrations.AlterField(
                    model_name='account',
                    name='store',
                    field=models.ForeignKey(db_index=False, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='stores.store'),
                )
            ],
        ),
    ]
