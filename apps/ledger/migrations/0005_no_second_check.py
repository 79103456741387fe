"""Entries lose two foreign keys: the check of every entry says the same, and posting no longer locks accounts to be sure of it."""

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('ledger', '0004_shorter_tails'),
    ]

    operations = [
        migrations.RunSQL("SET LOCAL lock_timeout = '5s'", migrations.RunSQL.noop),
        migrations.AlterField(
            model_name='entry',
            name='account',
            field=models.ForeignKey(db_constraint=False, db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='entries', to='ledger.account'),
        ),
        migrations.AlterField(
            model_name='entry',
            name='movement',
            field=models.ForeignKey(db_constraint=False, on_delete=django.db.models.deletion.PROTECT, related_name='entries', to='ledger.movement'),
        ),
    ]
