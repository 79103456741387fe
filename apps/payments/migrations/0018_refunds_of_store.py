"""What the list of a store's refunds is ordered by; the index is built while others write."""

from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations, models


class Migration(migrations.Migration):
    atomic = False

    dependencies = [
        ('payments', '0017_needing_a_person_indexes'),
    ]

    operations = [
        AddIndexConcurrently(
            model_name='refund',
            index=models.Index(fields=['store', 'mode', '-created_at'], name='refund_of_store'),
        ),
    ]
