"""Customers by email, over all stores, for the lists of staff; built while others write."""

from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations, models


class Migration(migrations.Migration):
    atomic = False

    dependencies = [
        ('billing', '0007_needing_a_person'),
    ]

    operations = [
        AddIndexConcurrently(
            model_name='customer',
            index=models.Index(fields=['email'], name='customer_of_all'),
        ),
    ]
