"""What swaps are searched by; the indexes are built while others write."""

from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations, models


class Migration(migrations.Migration):
    atomic = False

    dependencies = [
        ('assets', '0002_rates_are_compared'),
        ('payments', '0014_searched'),
        ('stores', '0015_staff_of_before'),
        ('swaps', '0001_initial'),
    ]

    operations = [
        AddIndexConcurrently(
            model_name='swap',
            index=models.Index(condition=models.Q(('tx_hash__isnull', False)), fields=['store', 'mode', 'tx_hash'], name='swap_by_hash'),
        ),
    ]
