"""What waits for staff, and the newest of all; built while others write."""

import django.contrib.postgres.indexes
from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations, models


class Migration(migrations.Migration):
    atomic = False

    dependencies = [
        ('chain', '0019_holds'),
    ]

    operations = [
        AddIndexConcurrently(
            model_name='deposit',
            index=django.contrib.postgres.indexes.BrinIndex(fields=['detected_at'], name='deposit_by_age'),
        ),
        AddIndexConcurrently(
            model_name='outgoingtransaction',
            index=models.Index(condition=models.Q(('status', 'review')), fields=['requested_at'], name='outgoing_reviews'),
        ),
        AddIndexConcurrently(
            model_name='outgoingtransaction',
            index=django.contrib.postgres.indexes.BrinIndex(fields=['requested_at'], name='outgoing_by_age'),
        ),
        AddIndexConcurrently(
            model_name='unmatchedtransfer',
            index=models.Index(condition=models.Q(('resolved_at', None)), fields=['detected_at'], name='unmatched_open'),
        ),
    ]
