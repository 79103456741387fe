"""Invoices and subscriptions that need a person; the indexes are built while others write."""

from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations, models


class Migration(migrations.Migration):
    atomic = False

    dependencies = [
        ('billing', '0006_searched'),
        ('stores', '0016_member_lists'),
    ]

    operations = [
        AddIndexConcurrently(
            model_name='invoice',
            index=models.Index(condition=models.Q(('needs_attention__isnull', False)), fields=['store', 'mode', '-updated_at'], name='invoice_flagged'),
        ),
        AddIndexConcurrently(
            model_name='subscription',
            index=models.Index(condition=models.Q(('status', 'past_due')), fields=['store', 'mode', '-updated_at'], name='subscription_past_due'),
        ),
    ]
