"""API keys by what people see of them, over all stores; built while others write."""

from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations, models


class Migration(migrations.Migration):
    atomic = False

    dependencies = [("access", "0001_squashed_0015_one_index_a_beginning")]

    operations = [
        AddIndexConcurrently(
            model_name="apikey",
            index=models.Index(fields=["last_four"], name="api_key_by_last_four"),
        ),
    ]
