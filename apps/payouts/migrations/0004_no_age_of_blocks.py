"""The age of blocks is asked by no list since these go by IDs."""

from django.contrib.postgres.operations import RemoveIndexConcurrently
from django.db import migrations


class Migration(migrations.Migration):
    atomic = False

    dependencies = [
        ('payouts', '0003_newest'),
    ]

    operations = [
        RemoveIndexConcurrently(model_name='payout', name='payout_by_age'),
    ]
