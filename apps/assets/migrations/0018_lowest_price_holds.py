"""Every lowest price is within its bounds."""

from django.contrib.postgres.operations import ValidateConstraint
from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [("assets", "0017_lowest_price")]

    operations = [
        migrations.RunSQL("SET LOCAL lock_timeout = '5s'", migrations.RunSQL.noop),
        ValidateConstraint(model_name="acceptedasset", name="accepted_asset_lowest_price"),
    ]
