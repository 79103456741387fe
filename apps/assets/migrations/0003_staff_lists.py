"""Assets that are stopped for review, for the lists of staff; built while others write."""

from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations, models


class Migration(migrations.Migration):
    atomic = False

    dependencies = [
        ('assets', '0002_rates_are_compared'),
    ]

    operations = [
        AddIndexConcurrently(
            model_name='acceptedasset',
            index=models.Index(condition=models.Q(('suspended_at__isnull', False)), fields=['suspended_at'], name='accepted_asset_stopped'),
        ),
    ]
