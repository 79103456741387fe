"""Sweeps of many addresses in one transaction."""

import django.db.models.deletion
from django.contrib.postgres.operations import AddConstraintNotValid
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("chain", "0032_finality_tags")]

    operations = [
        migrations.RunSQL("SET LOCAL lock_timeout = '5s'", migrations.RunSQL.noop),
        migrations.AddField(
            model_name="outgoingtransaction",
            name="batch",
            field=models.ForeignKey(
                blank=True,
                db_index=False,
                null=True,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="parts",
                to="chain.outgoingtransaction",
            ),
        ),
        migrations.AlterField(
            model_name="outgoingtransaction",
            name="purpose",
            field=models.CharField(
                choices=[
                    ("refund", "Refund"),
                    ("payout", "Payout"),
                    ("settlement", "Settlement"),
                    ("test_payment", "Test payment"),
                    ("swap", "Swap"),
                    ("approval", "Approval"),
                    ("sweep", "Sweep"),
                    ("sweep_gas", "Gas for a sweep"),
                    ("sweep_batch", "Batch of sweeps"),
                    ("join", "Joining of coins"),
                    ("cold", "Cold storage"),
                    ("withdrawal", "Withdrawal"),
                    ("x402", "x402"),
                ],
                max_length=12,
            ),
        ),
        migrations.RemoveConstraint(
            model_name="outgoingtransaction", name="outgoing_signed_has_nonce"
        ),
        AddConstraintNotValid(
            model_name="outgoingtransaction",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(
                        ("status__in", ["signed", "submitted", "confirmed"]), _negated=True
                    ),
                    ("nonce__isnull", False),
                    ("spend__isnull", False),
                    ("batch__isnull", False),
                    _connector="OR",
                ),
                name="outgoing_signed_has_nonce",
            ),
        ),
    ]
