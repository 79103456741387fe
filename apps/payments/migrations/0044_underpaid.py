"""Payments that were completed with less than was due; the index is built while others write."""

from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations, models


class Migration(migrations.Migration):
    atomic = False

    dependencies = [("payments", "0043_history_by_number")]

    operations = [
        AddIndexConcurrently(
            model_name="payment",
            index=models.Index(
                condition=models.Q(("refund_state", "none"), ("state_reason", "completed_underpaid")),
                fields=["store", "mode", "-completed_at"],
                name="payment_underpaid",
            ),
        ),
    ]
