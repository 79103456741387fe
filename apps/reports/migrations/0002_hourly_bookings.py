"""Sums of the entries of long accounts by hour, kind and currency; a job adds them up."""

import apps.core.models
import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("ledger", "0001_squashed_0015_entries_without_transactions"),
        ("reports", "0001_squashed_0003_one_index_a_beginning"),
    ]

    operations = [
        migrations.RunSQL("SET LOCAL lock_timeout = '5s'", migrations.RunSQL.noop),
        migrations.CreateModel(
            name="HourlyBooking",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("is_day", models.BooleanField()),
                ("hour", models.DateTimeField()),
                ("kind", models.CharField(max_length=40)),
                ("currency", models.CharField(blank=True, max_length=3)),
                ("entries", models.PositiveIntegerField()),
                ("in_atomic", apps.core.models.AtomicField()),
                ("out_atomic", apps.core.models.AtomicField()),
                ("fee_atomic", apps.core.models.AtomicField()),
                ("cents", apps.core.models.AtomicField()),
                ("fee_cents", apps.core.models.AtomicField()),
                ("unvalued", models.PositiveIntegerField()),
                ("first_id", models.BigIntegerField()),
                ("last_id", models.BigIntegerField()),
                ("account", models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name="+", to="ledger.account")),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(
                        fields=("account", "is_day", "hour", "kind", "currency"),
                        include=("entries", "in_atomic", "out_atomic", "fee_atomic", "cents", "fee_cents", "unvalued", "first_id", "last_id"),
                        name="hourly_booking_once",
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="HourlyBookingPlace",
            fields=[
                ("account", models.OneToOneField(on_delete=django.db.models.deletion.PROTECT, primary_key=True, related_name="+", serialize=False, to="ledger.account")),
                ("newest_id", models.BigIntegerField(default=0)),
                ("currency", models.CharField(blank=True, default="", max_length=3)),
            ],
        ),
    ]
