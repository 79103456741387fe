"""Lists by status, and of all stores; built while others write."""

from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations, models


class Migration(migrations.Migration):
    atomic = False

    dependencies = [
        ('billing', '0013_words_of_choices'),
    ]

    operations = [
        AddIndexConcurrently(
            model_name='invoice',
            index=models.Index(fields=['store', 'mode', 'status', '-created_at', '-id'], name='invoice_of_status'),
        ),
        AddIndexConcurrently(
            model_name='subscription',
            index=models.Index(fields=['store', 'mode', 'status', '-created_at', '-id'], name='subscription_of_status'),
        ),
        AddIndexConcurrently(
            model_name='invoice',
            index=models.Index(fields=['-created_at', '-id'], name='invoice_newest_of_all'),
        ),
        AddIndexConcurrently(
            model_name='subscription',
            index=models.Index(fields=['-created_at', '-id'], name='subscription_newest_of_all'),
        ),
    ]
