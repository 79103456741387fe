"""What a store has sent in a day, what an address has paid in and what went back to it: by indexes that are built while others write."""

from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations, models


class Migration(migrations.Migration):
    atomic = False

    dependencies = [
        ('chain', '0011_lanes'),
    ]

    operations = [
        AddIndexConcurrently(
            model_name='outgoingtransaction',
            index=models.Index(fields=['store', 'asset', 'signed_at'], name='outgoing_by_store'),
        ),
        AddIndexConcurrently(
            model_name='outgoingtransaction',
            index=models.Index(condition=models.Q(('goes_back', True)), fields=['to_address', 'asset'], name='outgoing_gone_back'),
        ),
        AddIndexConcurrently(
            model_name='deposit',
            index=models.Index(fields=['from_address', 'asset'], name='deposit_by_payer'),
        ),
    ]
