"""Lists by status; built while others write."""

from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations, models


class Migration(migrations.Migration):
    atomic = False

    dependencies = [
        ('swaps', '0002_searched'),
    ]

    operations = [
        AddIndexConcurrently(
            model_name='swap',
            index=models.Index(fields=['store', 'mode', 'status', '-created_at', '-id'], name='swap_of_status'),
        ),
    ]
