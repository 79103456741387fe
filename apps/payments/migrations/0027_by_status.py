"""Lists by status; built while others write, and what they replace goes after them."""

from django.contrib.postgres.operations import AddIndexConcurrently, RemoveIndexConcurrently
from django.db import migrations, models


class Migration(migrations.Migration):
    atomic = False

    dependencies = [
        ('payments', '0026_words_of_choices'),
    ]

    operations = [
        AddIndexConcurrently(
            model_name='payment',
            index=models.Index(fields=['store', 'mode', 'status', '-created_at', '-id'], name='payment_of_status'),
        ),
        AddIndexConcurrently(
            model_name='refund',
            index=models.Index(fields=['store', 'mode', 'status', '-created_at', '-id'], name='refund_of_status'),
        ),
        RemoveIndexConcurrently(model_name='payment', name='payment_failed'),
        RemoveIndexConcurrently(model_name='refund', name='refund_failed'),
        # Beside a unique index of a column in the order of its bytes, which serves prefixes as well.
        migrations.RunSQL(
            'DROP INDEX CONCURRENTLY IF EXISTS payments_payment_reference_1d502039_like',
            migrations.RunSQL.noop,
        ),
    ]
