"""Every destination, line and schedule is as its check says."""

from django.contrib.postgres.operations import ValidateConstraint
from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [("payouts", "0008_indexes_with_addresses")]

    operations = [
        migrations.RunSQL("SET LOCAL lock_timeout = '5s'", migrations.RunSQL.noop),
        ValidateConstraint(model_name="destination", name="destination_is_wallet_or_bank"),
        ValidateConstraint(model_name="payoutbatchline", name="payout_batch_line_can_be_paid"),
        ValidateConstraint(model_name="schedule", name="schedule_has_one_destination"),
    ]
