"""The parts of a batch have an index."""

from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations, models


class Migration(migrations.Migration):
    atomic = False
    dependencies = [("chain", "0033_batches_of_sweeps")]

    operations = [
        AddIndexConcurrently(
            model_name="outgoingtransaction",
            index=models.Index(
                condition=models.Q(("batch__isnull", False)),
                fields=["batch"],
                name="outgoing_in_batch",
            ),
        ),
    ]
