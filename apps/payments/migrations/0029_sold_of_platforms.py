"""What a platform's merchants sold in a range; built while others write."""

from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations, models


class Migration(migrations.Migration):
    atomic = False

    dependencies = [
        ('payments', '0028_daily_sums'),
        ('stores', '0027_due_only'),
    ]

    operations = [
        AddIndexConcurrently(
            model_name='payment',
            index=models.Index(condition=models.Q(('completed_at__isnull', False), ('platform__isnull', False)), fields=['platform', 'mode', 'completed_at'], include=('store', 'settlement_currency', 'settlement_amount_cents'), name='payment_sold_of_platform'),
        ),
    ]
