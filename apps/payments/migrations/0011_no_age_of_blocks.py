"""The age of blocks is asked by no list since these go by IDs."""

from django.contrib.postgres.operations import RemoveIndexConcurrently
from django.db import migrations


class Migration(migrations.Migration):
    atomic = False

    dependencies = [
        ('payments', '0010_sold_by_merchant'),
    ]

    operations = [
        RemoveIndexConcurrently(model_name='payment', name='payment_by_age'),
        RemoveIndexConcurrently(model_name='refund', name='refund_by_age'),
    ]
