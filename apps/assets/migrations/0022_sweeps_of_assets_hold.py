"""Every asset's sweeps are within their bounds."""

from django.contrib.postgres.operations import ValidateConstraint
from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [("assets", "0021_sweeps_of_assets")]

    operations = [
        migrations.RunSQL("SET LOCAL lock_timeout = '5s'", migrations.RunSQL.noop),
        ValidateConstraint(model_name="asset", name="asset_sweeps_are_bounded"),
    ]
