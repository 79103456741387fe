"""Payments that wait for an automatic swap; the indexes are built while others write."""

from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations, models


class Migration(migrations.Migration):
    atomic = False

    dependencies = [
        ('payments', '0023_nets'),
    ]

    operations = [
        AddIndexConcurrently(
            model_name='payment',
            index=models.Index(condition=models.Q(('auto_swap_status__isnull', True), ('status', 'completed')), fields=['store', 'mode', 'completed_at'], name='payment_unswapped'),
        ),
        AddIndexConcurrently(
            model_name='payment',
            index=models.Index(condition=models.Q(('auto_swap_status', 'pending')), fields=['completed_at'], name='payment_swapping'),
        ),
    ]
