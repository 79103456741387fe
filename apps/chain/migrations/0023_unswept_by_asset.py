"""Deposits that may be worth a sweep, by asset; built while others write."""

from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations, models


class Migration(migrations.Migration):
    atomic = False

    dependencies = [
        ('chain', '0022_unswept'),
    ]

    operations = [
        AddIndexConcurrently(
            model_name='deposit',
            index=models.Index(condition=models.Q(('handled_status', 'confirmed'), ('is_lost', False), ('is_simulated', False), ('is_unswept', True), ('status', 'confirmed')), fields=['chain', 'asset', 'address'], name='deposit_unswept'),
        ),
    ]
