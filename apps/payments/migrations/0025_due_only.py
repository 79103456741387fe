"""Test intents by store and deadline, and disputed ones, which is what jobs and figures
ask for; built while others write."""

from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations, models


class Migration(migrations.Migration):
    atomic = False

    dependencies = [
        ('payments', '0024_unswapped'),
        ('stores', '0027_due_only'),
    ]

    operations = [
        AddIndexConcurrently(
            model_name='payment',
            index=models.Index(condition=models.Q(('mode', 'test'), ('status__in', ['pending', 'processing'])), fields=['store', 'expires_at'], name='payment_open_in_test'),
        ),
        AddIndexConcurrently(
            model_name='payment',
            index=models.Index(condition=models.Q(('reconciliation_status', 'disputed')), fields=['mode'], name='payment_disputed'),
        ),
    ]
