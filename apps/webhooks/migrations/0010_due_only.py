"""Attempts by age, which the job that forgets them looks for; built while others write."""

import django.contrib.postgres.indexes
from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations


class Migration(migrations.Migration):
    atomic = False

    dependencies = [
        ('webhooks', '0009_attempts_outlive_deliveries'),
    ]

    operations = [
        AddIndexConcurrently(
            model_name='attempt',
            index=django.contrib.postgres.indexes.BrinIndex(fields=['at'], name='attempt_by_age'),
        ),
    ]
