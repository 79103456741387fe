"""Lists by status; built while others write, and what they replace goes after them."""

from django.contrib.postgres.operations import AddIndexConcurrently, RemoveIndexConcurrently
from django.db import migrations, models


class Migration(migrations.Migration):
    atomic = False

    dependencies = [
        ('payouts', '0017_words_of_choices'),
    ]

    operations = [
        AddIndexConcurrently(
            model_name='payout',
            index=models.Index(fields=['store', 'mode', 'status', '-created_at', '-id'], name='payout_of_status'),
        ),
        RemoveIndexConcurrently(model_name='payout', name='payout_in_review'),
        RemoveIndexConcurrently(model_name='payout', name='payout_failed'),
    ]
