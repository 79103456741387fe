"""What waits for its check is found by its own table: a payment's check writes no index of payments."""

from django.contrib.postgres.operations import RemoveIndexConcurrently
from django.db import migrations


class Migration(migrations.Migration):
    atomic = False

    dependencies = [
        ('payments', '0033_reconciliation_tasks'),
    ]

    operations = [
        RemoveIndexConcurrently(model_name='payment', name='payment_reconciliation_due'),
        RemoveIndexConcurrently(model_name='payment', name='payment_disputed'),
    ]
