"""Refunds by the address that they went to; built while others write."""

from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations, models


class Migration(migrations.Migration):
    atomic = False

    dependencies = [("payments", "0001_squashed_0045_sums_by_entries_alone")]

    operations = [
        AddIndexConcurrently(
            model_name="refund",
            index=models.Index(fields=["destination_address"], name="refund_by_address"),
        ),
    ]
