"""The request log by request id; built while others write."""

from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations, models


class Migration(migrations.Migration):
    atomic = False

    dependencies = [
        ('access', '0008_copied_cooling_settings'),
    ]

    operations = [
        AddIndexConcurrently(
            model_name='requestentry',
            index=models.Index(fields=['store', 'request_id'], name='request_by_id'),
        ),
    ]
