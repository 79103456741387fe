"""Failed payouts that wait for a person; the index is built while others write."""

from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations, models


class Migration(migrations.Migration):
    atomic = False

    dependencies = [
        ('payouts', '0012_staff_lists'),
    ]

    operations = [
        AddIndexConcurrently(
            model_name='payout',
            index=models.Index(condition=models.Q(('status', 'failed')), fields=['store', 'mode', '-created_at'], name='payout_failed'),
        ),
    ]
