"""What waits is found by the queue's table: the two indexes of the queue before it go."""

from django.contrib.postgres.operations import RemoveIndexConcurrently
from django.db import migrations


class Migration(migrations.Migration):
    atomic = False

    dependencies = [
        ('webhooks', '0014_one_index_a_beginning'),
    ]

    operations = [
        RemoveIndexConcurrently('delivery', 'delivery_waiting'),
        RemoveIndexConcurrently('delivery', 'delivery_in_flight'),
    ]
