"""The newest payments and refunds of all stores, for the lists of staff; built while others write."""

import django.contrib.postgres.indexes
from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations


class Migration(migrations.Migration):
    atomic = False

    dependencies = [
        ('assets', '0003_staff_lists'),
        ('payments', '0018_refunds_of_store'),
    ]

    operations = [
        AddIndexConcurrently(
            model_name='payment',
            index=django.contrib.postgres.indexes.BrinIndex(fields=['created_at'], name='payment_by_age'),
        ),
        AddIndexConcurrently(
            model_name='refund',
            index=django.contrib.postgres.indexes.BrinIndex(fields=['created_at'], name='refund_by_age'),
        ),
    ]
