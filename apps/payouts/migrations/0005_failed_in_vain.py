"""Payouts whose attempts cost gas in vain, by destination; the index is built while others write."""

from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations, models


class Migration(migrations.Migration):
    atomic = False

    dependencies = [
        ('payouts', '0004_waiting'),
    ]

    operations = [
        AddIndexConcurrently(
            model_name='payout',
            index=models.Index(condition=models.Q(('failed_gas_atomic__gt', 0), ('failed_gas_due_atomic__gt', 0), _connector='OR'), fields=['store', 'mode', 'destination_address'], name='payout_failed_in_vain'),
        ),
    ]
