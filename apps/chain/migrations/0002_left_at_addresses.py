"""Coins that are left at the addresses of deposits and aren't worth a sweep. Processes of the
previous release leave it empty when they set a deposit aside."""

import apps.core.models
from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [("chain", "0001_squashed_0030_one_index_of_values")]

    operations = [
        migrations.RunSQL("SET LOCAL lock_timeout = '5s'", migrations.RunSQL.noop),
        migrations.AddField(
            model_name="deposit",
            name="left_atomic",
            field=apps.core.models.OptionalAtomicField(blank=True, null=True),
        ),
    ]
