"""Indexes of deliveries that may be due, by endpoint, and of those that wait for their time, by
when that comes; built while others write."""

from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations, models


class Migration(migrations.Migration):
    atomic = False

    dependencies = [
        ('webhooks', '0003_ready'),
    ]

    operations = [
        AddIndexConcurrently(
            model_name='queueddelivery',
            index=models.Index(condition=models.Q(('is_ready', True), ('status', 'pending')), fields=['endpoint', 'next_attempt_at'], name='queued_ready'),
        ),
        AddIndexConcurrently(
            model_name='queueddelivery',
            index=models.Index(condition=models.Q(('is_ready', False), ('status', 'pending')), fields=['next_attempt_at'], name='queued_for_later'),
        ),
    ]
