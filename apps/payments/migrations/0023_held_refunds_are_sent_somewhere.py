"""Every held refund that was sent has an address."""

from django.contrib.postgres.operations import ValidateConstraint
from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [("payments", "0022_longer_addresses")]

    operations = [
        migrations.RunSQL("SET LOCAL lock_timeout = '5s'", migrations.RunSQL.noop),
        ValidateConstraint(model_name="heldrefund", name="held_refund_sent_somewhere"),
    ]
