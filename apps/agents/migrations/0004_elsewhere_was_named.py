"""The rule of the migration before holds for what there is."""

from django.contrib.postgres.operations import ValidateConstraint
from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [("agents", "0003_elsewhere_is_named")]

    operations = [
        migrations.RunSQL("SET LOCAL lock_timeout = '5s'", migrations.RunSQL.noop),
        ValidateConstraint(model_name="signedpayment", name="signed_payment_elsewhere_is_named"),
    ]
