"""An index finds what is set aside and waits for its confirmations."""

from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations, models


class Migration(migrations.Migration):
    atomic = False

    dependencies = [
        ('chain', '0004_no_age_of_blocks'),
    ]

    operations = [
        AddIndexConcurrently(
            model_name='deposit',
            index=models.Index(
                condition=models.Q(('confirmed_at', None), ('status', 'unmatched')),
                fields=['detected_at'],
                name='deposit_unexpected',
            ),
        ),
    ]
