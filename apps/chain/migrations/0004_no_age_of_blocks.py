"""The age of blocks is asked by no list since these go by IDs."""

from django.contrib.postgres.operations import RemoveIndexConcurrently
from django.db import migrations


class Migration(migrations.Migration):
    atomic = False

    dependencies = [
        ('chain', '0003_left_at_addresses_so_far'),
    ]

    operations = [
        RemoveIndexConcurrently(model_name='deposit', name='deposit_by_age'),
        RemoveIndexConcurrently(model_name='outgoingtransaction', name='outgoing_by_age'),
    ]
