"""Payments whose metadata names a customer; the index is built while others write."""

from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations, models
from django.db.models.fields.json import KT
from django.db.models.functions import Left, Lower


class Migration(migrations.Migration):
    atomic = False

    dependencies = [
        ('payments', '0021_transfer_returns'),
    ]

    operations = [
        AddIndexConcurrently(
            model_name='payment',
            index=models.Index('store', 'mode', Left(Lower(KT('metadata__customer_email')), 254), condition=models.Q(('metadata__has_key', 'customer_email')), name='payment_by_customer_email'),
        ),
    ]
