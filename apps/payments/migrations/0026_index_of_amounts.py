"""The index of amounts has the platform, which the table's policies ask for: a search for an amount
that nobody paid reads the index alone."""

from django.contrib.postgres.operations import AddIndexConcurrently, RemoveIndexConcurrently
from django.db import migrations, models


class Migration(migrations.Migration):
    atomic = False

    dependencies = [("payments", "0025_posted_by_the_web")]

    operations = [
        AddIndexConcurrently(
            "payment",
            models.Index(
                fields=["store", "mode", "settlement_amount_cents", "-created_at"],
                include=["platform"],
                name="payment_at_amount",
            ),
        ),
        RemoveIndexConcurrently("payment", "payment_of_amount"),
    ]
