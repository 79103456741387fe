"""A store may refuse a coin that has lost its par."""

from django.contrib.postgres.operations import AddConstraintNotValid
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("assets", "0016_finality_tags_hold")]

    operations = [
        migrations.RunSQL("SET LOCAL lock_timeout = '5s'", migrations.RunSQL.noop),
        migrations.AddField(
            model_name="acceptedasset",
            name="lowest_price_bps",
            field=models.PositiveSmallIntegerField(blank=True, null=True),
        ),
        AddConstraintNotValid(
            model_name="acceptedasset",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    ("lowest_price_bps__gte", 5_000), ("lowest_price_bps__lte", 10_000)
                ),
                name="accepted_asset_lowest_price",
            ),
        ),
    ]
