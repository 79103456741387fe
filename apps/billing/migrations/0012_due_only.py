"""What is due by the clocks of test stores that are ahead; built while others write."""

from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations, models


class Migration(migrations.Migration):
    atomic = False

    dependencies = [
        ('billing', '0011_copied_invoice_settings'),
        ('stores', '0027_due_only'),
    ]

    operations = [
        AddIndexConcurrently(
            model_name='invoice',
            index=models.Index(condition=models.Q(('mode', 'test'), ('next_letter_at__isnull', False)), fields=['store', 'next_letter_at'], name='invoice_letter_due_in_test'),
        ),
        AddIndexConcurrently(
            model_name='subscription',
            index=models.Index(condition=models.Q(('mode', 'test'), ('next_step_at__isnull', False)), fields=['store', 'next_step_at'], name='subscription_due_in_test'),
        ),
    ]
