"""The newest customers of a name; built while others write, and what it replaces goes after it."""

from django.contrib.postgres.operations import AddIndexConcurrently, RemoveIndexConcurrently
from django.db import migrations, models


class Migration(migrations.Migration):
    atomic = False

    dependencies = [
        ('billing', '0015_one_index_a_beginning'),
    ]

    operations = [
        AddIndexConcurrently(
            model_name='customer',
            index=models.Index(condition=models.Q(('name__isnull', False)), fields=['store', 'mode', 'name', '-created_at'], name='customer_of_name'),
        ),
        RemoveIndexConcurrently(model_name='customer', name='customer_by_name'),
    ]
