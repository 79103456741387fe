"""What of a chain needs a person; the indexes are built while others write."""

from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations, models


class Migration(migrations.Migration):
    atomic = False

    dependencies = [
        ('chain', '0017_needing_a_person'),
    ]

    operations = [
        AddIndexConcurrently(
            model_name='outgoingtransaction',
            index=models.Index(condition=models.Q(('status', 'review')), fields=['store', 'mode', '-requested_at'], name='outgoing_in_review'),
        ),
        AddIndexConcurrently(
            model_name='unmatchedtransfer',
            index=models.Index(condition=models.Q(('store__isnull', False)), fields=['store', '-detected_at'], name='unmatched_of_store'),
        ),
    ]
