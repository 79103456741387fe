"""Payments, refunds and late deposits that need a person; the indexes are built while others write."""

from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations, models


class Migration(migrations.Migration):
    atomic = False

    dependencies = [
        ('payments', '0016_whose_they_are'),
    ]

    operations = [
        AddIndexConcurrently(
            model_name='latedeposit',
            index=models.Index(condition=models.Q(('accepted_at', None)), fields=['store', 'mode', '-created_at'], name='late_deposit_waiting'),
        ),
        AddIndexConcurrently(
            model_name='payment',
            index=models.Index(condition=models.Q(('needs_attention', ''), _negated=True), fields=['store', 'mode', '-created_at'], name='payment_flagged'),
        ),
        AddIndexConcurrently(
            model_name='payment',
            index=models.Index(condition=models.Q(('status', 'failed')), fields=['store', 'mode', '-created_at'], name='payment_failed'),
        ),
        AddIndexConcurrently(
            model_name='payment',
            index=models.Index(condition=models.Q(('refund_state', 'none'), ('state_reason', 'completed_overpaid')), fields=['store', 'mode', '-completed_at'], name='payment_overpaid'),
        ),
        AddIndexConcurrently(
            model_name='refund',
            index=models.Index(condition=models.Q(('status', 'failed')), fields=['store', 'mode', '-created_at'], name='refund_failed'),
        ),
    ]
