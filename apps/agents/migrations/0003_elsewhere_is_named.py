"""A payment that another's transaction has carried out names that transaction."""

from django.contrib.postgres.operations import AddConstraintNotValid
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("agents", "0002_carried_out_elsewhere")]

    operations = [
        migrations.RunSQL("SET LOCAL lock_timeout = '5s'", migrations.RunSQL.noop),
        AddConstraintNotValid(
            model_name="signedpayment",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    ("is_elsewhere", False), models.Q(("tx_hash", ""), _negated=True), _connector="OR"
                ),
                name="signed_payment_elsewhere_is_named",
            ),
        ),
    ]
