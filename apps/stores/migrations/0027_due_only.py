"""Clocks that are ahead and notifications by age: what jobs look for; built while others write."""

import django.contrib.postgres.indexes
from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations, models


class Migration(migrations.Migration):
    atomic = False

    dependencies = [
        ('stores', '0026_settings_of_apps'),
    ]

    operations = [
        AddIndexConcurrently(
            model_name='notification',
            index=django.contrib.postgres.indexes.BrinIndex(fields=['created_at'], name='notification_by_age'),
        ),
        AddIndexConcurrently(
            model_name='store',
            index=models.Index(condition=models.Q(('test_offset_seconds__gt', 0)), fields=['id'], name='store_with_clock_ahead'),
        ),
    ]
