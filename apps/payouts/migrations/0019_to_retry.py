"""Failed payouts that are tried again by themselves; built while others write."""

from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations, models


class Migration(migrations.Migration):
    atomic = False

    dependencies = [
        ('payouts', '0018_by_status'),
    ]

    operations = [
        AddIndexConcurrently(
            model_name='payout',
            index=models.Index(condition=models.Q(('retry_at__isnull', False), ('status', 'failed')), fields=['retry_at'], name='payout_to_retry'),
        ),
    ]
