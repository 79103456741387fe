"""What a hot wallet sent that no record asked for."""

import django.db.models.deletion
from django.db import migrations, models

import apps.core.models


class Migration(migrations.Migration):
    dependencies = [
        ("assets", "0001_initial"),
        ("chain", "0007_signed_transfers"),
    ]

    operations = [
        migrations.RunSQL("SET LOCAL lock_timeout = '5s'", migrations.RunSQL.noop),
        migrations.CreateModel(
            name="UnknownTransaction",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("from_address", models.CharField(db_collation="C", max_length=42)),
                ("nonce", models.BigIntegerField()),
                ("tx_hash", models.CharField(db_collation="C", max_length=66, unique=True)),
                ("to_address", models.CharField(blank=True, db_collation="C", max_length=42)),
                ("value_atomic", apps.core.models.AtomicField()),
                ("data", models.TextField(db_collation="C")),
                ("found_at", models.DateTimeField()),
                ("settled_at", models.DateTimeField(blank=True, null=True)),
                ("chain", models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name="+", to="assets.chain")),
            ],
            options={
                "constraints": [models.UniqueConstraint(fields=("chain", "from_address", "nonce"), name="unknown_nonce_once")],
            },
        ),
    ]
