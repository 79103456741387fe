"""What waits for staff, and the newest of all; built while others write."""

from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations, models


class Migration(migrations.Migration):
    atomic = False

    dependencies = [
        ("core", "0009_set_aside"),
    ]

    operations = [
        AddIndexConcurrently(
            model_name='outgoingmail',
            index=models.Index(condition=models.Q(('status', 'failed')), fields=['created_at'], name='outgoing_mail_failed'),
        ),
    ]
