"""What payment links and the people who paid at them are searched by; the indexes are built while others write."""

from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations, models


class Migration(migrations.Migration):
    atomic = False

    dependencies = [
        ('links', '0001_links'),
    ]

    operations = [
        AddIndexConcurrently(
            model_name='linkpayment',
            index=models.Index(condition=models.Q(('customer_email', ''), _negated=True), fields=['customer_email'], name='link_payment_by_email'),
        ),
        AddIndexConcurrently(
            model_name='paymentlink',
            index=models.Index(fields=['store', 'mode', 'title'], name='payment_link_by_title'),
        ),
    ]
