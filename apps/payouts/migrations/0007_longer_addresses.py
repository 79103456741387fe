"""Addresses of any family of networks: 128 letters and digits in place of the 42 of EVM. The checks
that name one are made again, and validated by the next migration. Indexes of some destinations are
built again here: a store has few.
"""

from django.contrib.postgres.operations import AddConstraintNotValid
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("payouts", "0006_indexes_without_addresses")]

    operations = [
        migrations.RunSQL("SET LOCAL lock_timeout = '5s'", migrations.RunSQL.noop),
        migrations.RemoveConstraint(model_name="destination", name="destination_is_wallet_or_bank"),
        migrations.RemoveConstraint(model_name="payoutbatchline", name="payout_batch_line_can_be_paid"),
        migrations.RemoveConstraint(model_name="schedule", name="schedule_has_one_destination"),
        migrations.AlterField(
            model_name="destination",
            name="address",
            field=models.CharField(blank=True, db_collation='C', max_length=128),
        ),
        migrations.AlterField(
            model_name="schedule",
            name="destination_address",
            field=models.CharField(db_collation='C', max_length=128, null=True),
        ),
        migrations.AlterField(
            model_name="payout",
            name="destination_address",
            field=models.CharField(db_collation='C', max_length=128, null=True),
        ),
        migrations.AlterField(
            model_name="payoutbatchline",
            name="address",
            field=models.CharField(blank=True, db_collation='C', max_length=128),
        ),
        migrations.AlterField(
            model_name="payoutbatchline",
            name="lookalike",
            field=models.CharField(blank=True, db_collation='C', max_length=128),
        ),
        AddConstraintNotValid(
            model_name="destination",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    kind="wallet", address__regex=r"^[0-9A-Za-z]{14,128}$", currency=""
                )
                | (models.Q(kind="bank", address="") & ~models.Q(currency="")),
                name="destination_is_wallet_or_bank",
            ),
        ),
        AddConstraintNotValid(
            model_name="payoutbatchline",
            constraint=models.CheckConstraint(
                condition=models.Q(status="invalid")
                | (
                    models.Q(asset__isnull=False, amount_atomic__gt=0)
                    & (models.Q(destination__isnull=False) | ~models.Q(address=""))
                ),
                name="payout_batch_line_can_be_paid",
            ),
        ),
        AddConstraintNotValid(
            model_name="schedule",
            constraint=models.CheckConstraint(
                condition=models.Q(destination__isnull=False, destination_address__isnull=True)
                | models.Q(destination__isnull=True, destination_address__isnull=False),
                name="schedule_has_one_destination",
            ),
        ),
    ]
