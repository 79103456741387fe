"""An order to an off-ramp is written before it is asked, by workers alone: the coins of an
order that may have been taken are never given back by the web.
"""

import django.db.models.deletion
from django.db import migrations, models

# Orders of before: of whichever it isn't certain that the off-ramp has none.
FORWARD = """
INSERT INTO payouts_offramporder (payout_id, attempt, asked_at)
SELECT id, attempts, updated_at FROM payouts_payout
WHERE rail <> 'crypto' AND funds IN ('reserved', 'clearing')
    AND (status IN ('submitted', 'retrying', 'confirmed') OR is_outcome_unknown)
"""


class Migration(migrations.Migration):
    dependencies = [("payouts", "0010_suspended_stores")]

    operations = [
        migrations.RunSQL("SET LOCAL lock_timeout = '5s'", migrations.RunSQL.noop),
        migrations.CreateModel(
            name="OfframpOrder",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("attempt", models.PositiveSmallIntegerField()),
                ("asked_at", models.DateTimeField()),
                ("failed_at", models.DateTimeField(null=True)),
                (
                    "payout",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="payouts.payout",
                    ),
                ),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(
                        fields=("payout", "attempt"), name="offramp_order_once"
                    )
                ],
            },
        ),
        migrations.RunSQL(FORWARD, migrations.RunSQL.noop),
    ]
