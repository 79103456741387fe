"""One index a beginning: addresses of looks are found by their key, those of unexplained balances with
their asset."""

import django.db.models.deletion
from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations, models

_UNUSED = (
    "chain_addresslook_address_id_b51d33ce_like",
    "chain_unexplainedbalance_address_id_473bac58",
    "chain_unexplainedbalance_address_id_473bac58_like",
)


class Migration(migrations.Migration):
    atomic = False

    dependencies = [
        ('chain', '0008_payer'),
    ]

    operations = [
        *(
            migrations.RunSQL(f"DROP INDEX CONCURRENTLY IF EXISTS {name}", migrations.RunSQL.noop)
            for name in _UNUSED
        ),
        migrations.SeparateDatabaseAndState(
            state_operations=[
                migrations.AlterField(
                    model_name='unexplainedbalance',
                    name='address',
                    field=models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name='+',
                        to='chain.address',
                    ),
                ),
            ]
        ),
        AddIndexConcurrently(
            model_name='unexplainedbalance',
            index=models.Index(fields=['asset', 'address'], name='unexplained_by_asset'),
        ),
    ]
