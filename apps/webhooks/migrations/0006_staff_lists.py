"""Endpoints that were turned off, for the lists of staff; built while others write."""

from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations, models


class Migration(migrations.Migration):
    atomic = False

    dependencies = [
        ('webhooks', '0005_sealed_apart'),
    ]

    operations = [
        AddIndexConcurrently(
            model_name='endpoint',
            index=models.Index(condition=models.Q(('deleted_at', None), ('status', 'error')), fields=['updated_at'], name='endpoint_in_error'),
        ),
    ]
