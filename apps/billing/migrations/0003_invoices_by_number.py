"""Invoices by their numbers, over all stores; built while others write."""

from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations, models


class Migration(migrations.Migration):
    atomic = False

    dependencies = [("billing", "0002_customers_by_name")]

    operations = [
        AddIndexConcurrently(
            model_name="invoice",
            index=models.Index(
                condition=models.Q(number__isnull=False),
                fields=["number", "-created_at"],
                name="invoice_number_of_all",
            ),
        ),
        AddIndexConcurrently(
            model_name="invoice",
            index=models.Index(
                condition=models.Q(custom_number__isnull=False),
                fields=["custom_number", "-created_at"],
                name="invoice_custom_number_of_all",
            ),
        ),
    ]
