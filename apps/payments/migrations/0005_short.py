"""Payments of which a part has come are found by an index, which is built while others write."""

from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations, models


class Migration(migrations.Migration):
    atomic = False

    dependencies = [
        ("payments", "0004_sums_by_hour_so_far"),
    ]

    operations = [
        AddIndexConcurrently(
            model_name="payment",
            index=models.Index(
                fields=["store", "mode", "-created_at"],
                condition=models.Q(state_reason="processing_underpaid", status="processing"),
                name="payment_short",
            ),
        ),
    ]
