"""Mandates and settlements of all stores, newest first; built while others write."""

from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations, models


class Migration(migrations.Migration):
    atomic = False

    dependencies = [
        ('agents', '0005_words_of_choices'),
    ]

    operations = [
        AddIndexConcurrently(
            model_name='mandate',
            index=models.Index(fields=['-created_at', '-id'], name='mandate_newest_of_all'),
        ),
        AddIndexConcurrently(
            model_name='settlement',
            index=models.Index(fields=['-created_at', '-id'], name='settlement_newest_of_all'),
        ),
    ]
