"""A request to compare an address with the ledger is a row, which the watcher of its chain carries
out."""

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("assets", "0009_fixed_search_path"),
        ("chain", "0015_deposits_of_the_watcher"),
    ]

    operations = [
        migrations.RunSQL("SET LOCAL lock_timeout = '5s'", migrations.RunSQL.noop),
        migrations.CreateModel(
            name="AddressToLook",
            fields=[
                ("address", models.OneToOneField(on_delete=django.db.models.deletion.PROTECT, primary_key=True, related_name="+", serialize=False, to="chain.address")),
                ("asked_at", models.DateTimeField()),
                ("asset", models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name="+", to="assets.asset")),
                ("chain", models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name="+", to="assets.chain")),
            ],
            options={
                "indexes": [models.Index(fields=["chain", "asked_at"], name="address_to_look_due")],
            },
        ),
    ]
