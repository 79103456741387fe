"""Indexes of emails in turn, and of those of a store."""

from django.contrib.postgres.operations import AddIndexConcurrently, RemoveIndexConcurrently
from django.db import migrations, models


class Migration(migrations.Migration):
    atomic = False

    dependencies = [
        ('core', '0003_lanes_of_letters'),
    ]

    operations = [
        AddIndexConcurrently(
            model_name='outgoingmail',
            index=models.Index(
                condition=models.Q(('status', 'queued')),
                fields=['lane', 'next_attempt_at'],
                name='outgoing_mail_in_turn',
            ),
        ),
        AddIndexConcurrently(
            model_name='outgoingmail',
            index=models.Index(
                condition=models.Q(('in_name_of__isnull', False)),
                fields=['in_name_of', 'created_at'],
                name='outgoing_mail_of_store',
            ),
        ),
        RemoveIndexConcurrently(model_name='outgoingmail', name='outgoing_mail_due'),
    ]
