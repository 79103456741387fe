"""Index of deposits to merchants' own wallets that were reversed: a job looks whether one is back."""

from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations, models


class Migration(migrations.Migration):
    atomic = False

    dependencies = [("ledger", "0011_test_data_put_away")]

    operations = [
        AddIndexConcurrently(
            model_name="movement",
            index=models.Index(
                condition=models.Q(("kind", "own_deposit_reversed")),
                fields=["key"],
                name="movement_own_reversed",
            ),
        ),
    ]
