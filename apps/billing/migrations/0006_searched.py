"""What customers and products are searched by; the indexes are built while others write."""

from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations, models


class Migration(migrations.Migration):
    atomic = False

    dependencies = [
        ('billing', '0001_squashed_0005_form_keys'),
        ('stores', '0015_staff_of_before'),
    ]

    operations = [
        AddIndexConcurrently(
            model_name='customer',
            index=models.Index(fields=['store', 'mode', 'email'], name='customer_by_email'),
        ),
        AddIndexConcurrently(
            model_name='customer',
            index=models.Index(condition=models.Q(('name__isnull', False)), fields=['store', 'mode', 'name'], name='customer_by_name'),
        ),
        AddIndexConcurrently(
            model_name='product',
            index=models.Index(fields=['store', 'mode', 'name'], name='product_by_name'),
        ),
    ]
