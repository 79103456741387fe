"""Orders and titles of payments over all stores; built while others write."""

from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations, models


class Migration(migrations.Migration):
    atomic = False

    dependencies = [
        ('payments', '0007_emails_so_far'),
    ]

    operations = [
        AddIndexConcurrently(
            model_name='payment',
            index=models.Index(condition=models.Q(('order_id__isnull', False)), fields=['order_id', '-created_at'], name='payment_order_of_all'),
        ),
        AddIndexConcurrently(
            model_name='payment',
            index=models.Index(condition=models.Q(('title__isnull', False)), fields=['title', '-created_at'], name='payment_title_of_all'),
        ),
    ]
