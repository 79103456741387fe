"""Every network has a rule."""

from django.contrib.postgres.operations import ValidateConstraint
from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [("assets", "0015_finality_tags")]

    operations = [
        migrations.RunSQL("SET LOCAL lock_timeout = '5s'", migrations.RunSQL.noop),
        ValidateConstraint(model_name="chain", name="chain_has_a_rule_of_finality"),
    ]
