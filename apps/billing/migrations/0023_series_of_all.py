"""Invoices by the numbers of stores' own series, over all stores; built while others write."""

from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations, models


class Migration(migrations.Migration):
    atomic = False

    dependencies = [("billing", "0022_vat_checks_due")]

    operations = [
        AddIndexConcurrently(
            model_name="invoice",
            index=models.Index(
                condition=models.Q(series__isnull=False),
                fields=["series", "series_number", "-created_at"],
                name="invoice_series_of_all",
            ),
        ),
    ]
