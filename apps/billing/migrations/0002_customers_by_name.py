"""Customers by their names, over all stores; built while others write."""

from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations, models


class Migration(migrations.Migration):
    atomic = False

    dependencies = [("billing", "0001_squashed_0016_newest_of_a_name")]

    operations = [
        AddIndexConcurrently(
            model_name="customer",
            index=models.Index(
                condition=models.Q(name__isnull=False),
                fields=["name"],
                name="customer_name_of_all",
            ),
        ),
    ]
