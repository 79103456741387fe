"""Stores by the beginning of their name, newest first, for the lists of staff; built while others write."""

from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations, models


class Migration(migrations.Migration):
    atomic = False

    dependencies = [
        ('stores', '0019_notifications'),
    ]

    operations = [
        AddIndexConcurrently(
            model_name='store',
            index=models.Index(fields=['name'], name='store_by_name'),
        ),
        AddIndexConcurrently(
            model_name='store',
            index=models.Index(fields=['-created_at'], name='store_newest'),
        ),
    ]
