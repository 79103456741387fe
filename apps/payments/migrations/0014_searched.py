"""What payments and refunds are searched by; the indexes are built while others write."""

from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations, models


class Migration(migrations.Migration):
    atomic = False

    dependencies = [
        ('assets', '0002_rates_are_compared'),
        ('payments', '0013_withdrawals'),
        ('stores', '0015_staff_of_before'),
    ]

    operations = [
        AddIndexConcurrently(
            model_name='payment',
            index=models.Index(condition=models.Q(('title__isnull', False)), fields=['store', 'mode', 'title'], name='payment_by_title'),
        ),
        AddIndexConcurrently(
            model_name='payment',
            index=models.Index(fields=['store', 'mode', 'settlement_amount_cents'], name='payment_by_amount'),
        ),
        AddIndexConcurrently(
            model_name='refund',
            index=models.Index(condition=models.Q(('tx_hash__isnull', False)), fields=['store', 'mode', 'tx_hash'], name='refund_by_hash'),
        ),
    ]
