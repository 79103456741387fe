"""Sightings: transfers that wait to be mined and pay an address of ours."""

import apps.core.models
import django.contrib.postgres.fields
import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("assets", "0013_bitcoin_and_litecoin"),
        ("chain", "0023_indexes_with_addresses"),
    ]

    operations = [
        migrations.RunSQL("SET LOCAL lock_timeout = '5s'", migrations.RunSQL.noop),
        migrations.CreateModel(
            name="SightingRecord",
            fields=[
                ("id", models.BigAutoField(primary_key=True, serialize=False)),
                ("tx_hash", models.CharField(db_collation="C", max_length=66)),
                ("log_index", models.IntegerField()),
                ("amount_atomic", apps.core.models.AtomicField()),
                (
                    "spends",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.CharField(db_collation="C", max_length=80),
                        default=list,
                        size=None,
                    ),
                ),
                ("is_private", models.BooleanField(default=False)),
                ("is_replaceable", models.BooleanField(default=False)),
                (
                    "status",
                    models.CharField(
                        choices=[
                            ("waiting", "Waiting to be mined"),
                            ("mined", "Mined"),
                            ("replaced", "Replaced by another transaction"),
                            ("dropped", "Dropped by the network"),
                        ],
                        default="waiting",
                        max_length=8,
                    ),
                ),
                ("seen_at", models.DateTimeField()),
                ("gone_since", models.DateTimeField(blank=True, null=True)),
                ("ended_at", models.DateTimeField(blank=True, null=True)),
                (
                    "ended_by",
                    models.CharField(blank=True, db_collation="C", default="", max_length=66),
                ),
                (
                    "address",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="chain.address",
                    ),
                ),
                (
                    "asset",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="assets.asset",
                    ),
                ),
                (
                    "chain",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="assets.chain",
                    ),
                ),
            ],
            options={
                "db_table": "chain_sighting",
                "indexes": [
                    models.Index(fields=["address", "seen_at"], name="sighting_by_address"),
                    models.Index(
                        condition=models.Q(("status", "waiting")),
                        fields=["chain", "seen_at"],
                        name="sighting_waiting",
                    ),
                ],
                "constraints": [
                    models.UniqueConstraint(
                        fields=("chain", "tx_hash", "log_index"), name="sighting_once"
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("amount_atomic__gt", 0)), name="sighting_is_positive"
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("ended_at", None), ("status", "waiting")),
                            models.Q(
                                models.Q(("status", "waiting"), _negated=True),
                                ("ended_at__isnull", False),
                            ),
                            _connector="OR",
                        ),
                        name="sighting_ends_once",
                    ),
                ],
            },
        ),
    ]
