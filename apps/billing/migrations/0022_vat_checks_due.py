"""Customers whose VAT number a registry is asked about; built while others write."""

from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations, models


class Migration(migrations.Migration):
    atomic = False

    dependencies = [("billing", "0021_deliveries")]

    operations = [
        AddIndexConcurrently(
            model_name="customer",
            index=models.Index(
                condition=models.Q(vat_check_at__isnull=False),
                fields=["vat_check_at"],
                name="customer_vat_check_due",
            ),
        ),
    ]
