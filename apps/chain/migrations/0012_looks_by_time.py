"""Looks at addresses are deleted by their age."""

from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations, models


class Migration(migrations.Migration):
    atomic = False

    dependencies = [
        ('chain', '0011_indexes_of_obstacles'),
    ]

    operations = [
        AddIndexConcurrently(
            model_name='addresslook',
            index=models.Index(fields=['looked_until'], name='look_by_time'),
        ),
    ]
