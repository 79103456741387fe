"""The newest payments of a title and of an amount, and the few refunds of what came late; built while
others write, and what they replace goes after them."""

from django.contrib.postgres.operations import AddIndexConcurrently, RemoveIndexConcurrently
from django.db import migrations, models


class Migration(migrations.Migration):
    atomic = False

    dependencies = [
        ('payments', '0036_one_index_a_beginning'),
    ]

    operations = [
        AddIndexConcurrently(
            model_name='payment',
            index=models.Index(condition=models.Q(('title__isnull', False)), fields=['store', 'mode', 'title', '-created_at'], name='payment_of_title'),
        ),
        AddIndexConcurrently(
            model_name='payment',
            index=models.Index(fields=['store', 'mode', 'settlement_amount_cents', '-created_at'], name='payment_of_amount'),
        ),
        AddIndexConcurrently(
            model_name='refund',
            index=models.Index(condition=models.Q(('is_from_held', True)), fields=['payment'], name='refund_from_held'),
        ),
        RemoveIndexConcurrently(model_name='payment', name='payment_by_title'),
        RemoveIndexConcurrently(model_name='payment', name='payment_by_amount'),
    ]
