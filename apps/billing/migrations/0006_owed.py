"""Amounts due of open invoices are added up by an index, which is built while others write."""

from django.contrib.postgres.operations import AddIndexConcurrently, RemoveIndexConcurrently
from django.db import migrations, models


class Migration(migrations.Migration):
    atomic = False

    dependencies = [("billing", "0005_email_keys_so_far")]

    operations = [
        AddIndexConcurrently(
            model_name="invoice",
            index=models.Index(
                condition=models.Q(status="open"),
                fields=["store", "mode", "due_at"],
                include=("currency", "total_cents", "amount_paid_cents"),
                name="invoice_left",
            ),
        ),
        RemoveIndexConcurrently(model_name="invoice", name="invoice_owed"),
    ]
