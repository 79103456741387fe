"""The newest payouts of an agent; built while others write."""

from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations, models


class Migration(migrations.Migration):
    atomic = False

    dependencies = [
        ('payouts', '0021_one_index_of_values'),
    ]

    operations = [
        AddIndexConcurrently(
            model_name='payout',
            index=models.Index(condition=models.Q(('agent_credential_id__isnull', False)), fields=['agent_credential_id', '-created_at', '-id'], name='payout_of_agent'),
        ),
    ]
