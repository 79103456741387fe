"""Payouts in the order of their list, with what its totals are made of; built while others write."""

from django.contrib.postgres.operations import AddIndexConcurrently, RemoveIndexConcurrently
from django.db import migrations, models


class Migration(migrations.Migration):
    atomic = False

    dependencies = [("payouts", "0002_rejected_bank_accounts")]

    operations = [
        AddIndexConcurrently(
            model_name="payout",
            index=models.Index(
                fields=["store", "mode", "-created_at", "-id"],
                include=("asset", "amount_atomic", "funds"),
                name="payout_newest",
            ),
        ),
        RemoveIndexConcurrently(model_name="payout", name="payouts_pay_store_i_1b66b5_idx"),
    ]
