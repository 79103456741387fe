"""The indexes of before, and one less: what makes references unique begins with the address."""

import django.db.models.deletion
from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations, models

_BY_ADDRESS = "chain_deposit_address_id_8511553d"


class Migration(migrations.Migration):
    atomic = False

    dependencies = [("chain", "0022_longer_addresses")]

    operations = [
        migrations.SeparateDatabaseAndState(
            state_operations=[
                migrations.AlterField(
                    model_name="deposit",
                    name="address",
                    field=models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="deposits",
                        to="chain.address",
                    ),
                ),
            ],
            database_operations=[
                migrations.RunSQL(
                    f'DROP INDEX CONCURRENTLY "{_BY_ADDRESS}"',
                    f'CREATE INDEX CONCURRENTLY "{_BY_ADDRESS}" ON "chain_deposit" ("address_id")',
                ),
            ],
        ),
        AddIndexConcurrently(
            model_name="address",
            index=models.Index(
                fields=["native_chain", "watch_balance_until", "address"],
                condition=models.Q(native_chain__isnull=False),
                name="address_balance_watched",
            ),
        ),
        AddIndexConcurrently(
            model_name="deposit",
            index=models.Index(
                fields=["chain", "asset", "address"],
                condition=models.Q(
                    is_unswept=True,
                    is_simulated=False,
                    is_lost=False,
                    status="confirmed",
                    handled_status="confirmed",
                ),
                name="deposit_unswept",
            ),
        ),
        AddIndexConcurrently(
            model_name="outgoingtransaction",
            index=models.Index(
                fields=["to_address", "asset"],
                condition=models.Q(goes_back=True),
                name="outgoing_gone_back",
            ),
        ),
        AddIndexConcurrently(
            model_name="outgoingtransaction",
            index=models.Index(
                fields=["chain", "from_address"],
                condition=models.Q(purpose="sweep"),
                name="outgoing_sweeps",
            ),
        ),
        AddIndexConcurrently(
            model_name="outgoingtransaction",
            index=models.Index(
                fields=["chain", "to_address"],
                condition=models.Q(purpose="sweep_gas"),
                name="outgoing_sweep_gas",
            ),
        ),
    ]
