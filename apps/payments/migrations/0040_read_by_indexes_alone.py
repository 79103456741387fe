"""Lists, their counts and the figures of days are read by indexes alone; built while others write, and what
they replace goes after them."""

from django.contrib.postgres.operations import AddIndexConcurrently, RemoveIndexConcurrently
from django.db import migrations, models


class Migration(migrations.Migration):
    atomic = False

    dependencies = [
        ('payments', '0039_references_by_part_filled'),
    ]

    operations = [
        AddIndexConcurrently(
            model_name='payment',
            index=models.Index(fields=['store', 'mode', '-created_at', '-id'], include=('platform', 'reference', 'status', 'settlement_currency', 'settlement_amount_cents', 'completed_at'), name='payment_of_store'),
        ),
        AddIndexConcurrently(
            model_name='payment',
            index=models.Index(fields=['store', 'mode', 'status', '-created_at', '-id'], include=('platform',), name='payment_in_status'),
        ),
        AddIndexConcurrently(
            model_name='payment',
            index=models.Index(condition=models.Q(('order_id__isnull', False)), fields=['store', 'mode', 'order_id', '-created_at', '-id'], include=('platform',), name='payment_for_order'),
        ),
        RemoveIndexConcurrently(model_name='payment', name='payments_pa_store_i_350a86_idx'),
        RemoveIndexConcurrently(model_name='payment', name='payment_of_status'),
        RemoveIndexConcurrently(model_name='payment', name='payment_of_order'),
    ]
