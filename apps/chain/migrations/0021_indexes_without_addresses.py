"""Indexes of some rows with an address in them would be built again when addresses may be longer,
while nobody can read or write the table: they go before, and come back after. What makes a reference
of a simulated deposit unique has all rows from here on, which is built again by nothing.
"""

from django.contrib.postgres.operations import RemoveIndexConcurrently
from django.db import migrations, models

_REFERENCE_ONCE = (
    'CREATE UNIQUE INDEX CONCURRENTLY "deposit_reference_once"'
    ' ON "chain_deposit" ("address_id", "simulated_reference")'
)
_BEFORE = (
    'CREATE UNIQUE INDEX CONCURRENTLY "simulated_deposit_once"'
    ' ON "chain_deposit" ("address_id", "simulated_reference") WHERE "is_simulated"'
)


class Migration(migrations.Migration):
    atomic = False

    dependencies = [("chain", "0020_networks_keep_their_family")]

    operations = [
        RemoveIndexConcurrently(model_name="address", name="address_balance_watched"),
        RemoveIndexConcurrently(model_name="deposit", name="deposit_unswept"),
        RemoveIndexConcurrently(model_name="outgoingtransaction", name="outgoing_gone_back"),
        RemoveIndexConcurrently(model_name="outgoingtransaction", name="outgoing_sweeps"),
        RemoveIndexConcurrently(model_name="outgoingtransaction", name="outgoing_sweep_gas"),
        migrations.SeparateDatabaseAndState(
            state_operations=[
                migrations.RemoveConstraint(model_name="deposit", name="simulated_deposit_once"),
                migrations.AddConstraint(
                    model_name="deposit",
                    constraint=models.UniqueConstraint(
                        fields=("address", "simulated_reference"), name="deposit_reference_once"
                    ),
                ),
            ],
            database_operations=[
                migrations.RunSQL(
                    _REFERENCE_ONCE, 'DROP INDEX CONCURRENTLY "deposit_reference_once"'
                ),
                migrations.RunSQL('DROP INDEX CONCURRENTLY "simulated_deposit_once"', _BEFORE),
            ],
        ),
    ]
