"""Every network has its floor."""

from django.contrib.postgres.operations import ValidateConstraint
from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [("assets", "0007_confirmations_floor")]

    operations = [
        migrations.RunSQL("SET LOCAL lock_timeout = '5s'", migrations.RunSQL.noop),
        ValidateConstraint(model_name="chain", name="chain_confirms_enough"),
    ]
