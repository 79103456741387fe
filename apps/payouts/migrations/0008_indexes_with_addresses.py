"""The indexes of before."""

from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations, models


class Migration(migrations.Migration):
    atomic = False

    dependencies = [("payouts", "0007_longer_addresses")]

    operations = [
        AddIndexConcurrently(
            model_name="payout",
            index=models.Index(
                fields=["store", "mode", "destination_address"],
                condition=models.Q(destination_address__isnull=False),
                name="payout_by_address",
            ),
        ),
        AddIndexConcurrently(
            model_name="payout",
            index=models.Index(
                fields=["destination_address"],
                condition=models.Q(destination_address__isnull=False),
                name="payout_to_address",
            ),
        ),
        AddIndexConcurrently(
            model_name="payout",
            index=models.Index(
                fields=["store", "mode", "destination_address"],
                condition=models.Q(failed_gas_atomic__gt=0) | models.Q(failed_gas_due_atomic__gt=0),
                name="payout_failed_in_vain",
            ),
        ),
    ]
