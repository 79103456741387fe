"""Balances after every thousandth entry of long accounts; a job marks them."""

import apps.core.models
import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("ledger", "0001_squashed_0015_entries_without_transactions")]

    operations = [
        migrations.RunSQL("SET LOCAL lock_timeout = '5s'", migrations.RunSQL.noop),
        migrations.CreateModel(
            name="BalanceMark",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("entry_id", models.BigIntegerField()),
                ("balance_atomic", apps.core.models.AtomicField()),
                ("account", models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name="+", to="ledger.account")),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(fields=("account", "entry_id"), include=("balance_atomic",), name="balance_mark_once")
                ],
            },
        ),
    ]
