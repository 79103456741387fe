"""Reviews that ended lately are found without reading every store's assets."""

from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations, models


class Migration(migrations.Migration):
    atomic = False
    dependencies = [("assets", "0005_review_ended")]

    operations = [
        AddIndexConcurrently(
            model_name="acceptedasset",
            index=models.Index(
                condition=models.Q(("review_ended_at__isnull", False)),
                fields=["review_ended_at"],
                name="accepted_asset_review_ended",
            ),
        ),
    ]
