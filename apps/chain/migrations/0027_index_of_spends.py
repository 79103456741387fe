"""The orders of a spend have an index."""

from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations, models


class Migration(migrations.Migration):
    atomic = False
    dependencies = [("chain", "0026_coins")]

    operations = [
        AddIndexConcurrently(
            model_name="outgoingtransaction",
            index=models.Index(
                condition=models.Q(("spend__isnull", False)),
                fields=["spend"],
                name="outgoing_by_spend",
            ),
        ),
    ]
