"""Customers at links are found by their address whatever its case; the index is built while others write."""

from django.contrib.postgres.operations import AddIndexConcurrently, RemoveIndexConcurrently
from django.db import migrations, models
from django.db.models.functions import Lower


class Migration(migrations.Migration):
    atomic = False

    dependencies = [
        ('links', '0002_searched'),
    ]

    operations = [
        AddIndexConcurrently(
            model_name='linkpayment',
            index=models.Index(Lower('customer_email'), condition=models.Q(('customer_email', ''), _negated=True), name='link_payment_by_folded'),
        ),
        RemoveIndexConcurrently(
            model_name='linkpayment',
            name='link_payment_by_email',
        ),
    ]
