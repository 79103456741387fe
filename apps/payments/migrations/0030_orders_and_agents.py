"""The newest payments of an order and of an agent; built while others write, and what the first
replaces goes after it."""

from django.contrib.postgres.operations import AddIndexConcurrently, RemoveIndexConcurrently
from django.db import migrations, models


class Migration(migrations.Migration):
    atomic = False

    dependencies = [
        ('payments', '0029_sold_of_platforms'),
    ]

    operations = [
        AddIndexConcurrently(
            model_name='payment',
            index=models.Index(condition=models.Q(('order_id__isnull', False)), fields=['store', 'mode', 'order_id', '-created_at', '-id'], name='payment_of_order'),
        ),
        AddIndexConcurrently(
            model_name='payment',
            index=models.Index(condition=models.Q(('agent_credential_id__isnull', False)), fields=['agent_credential_id', '-created_at', '-id'], name='payment_of_agent'),
        ),
        RemoveIndexConcurrently(model_name='payment', name='payment_order_id'),
    ]
