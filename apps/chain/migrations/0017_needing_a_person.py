"""Whose payment the address of an unmatched transfer was made for."""

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ('assets', '0002_rates_are_compared'),
        ('chain', '0016_codes_of_old_reasons'),
        ('stores', '0016_member_lists'),
    ]

    operations = [
        migrations.RunSQL("SET LOCAL lock_timeout = '5s'", migrations.RunSQL.noop),
        migrations.AddField(
            model_name='unmatchedtransfer',
            name='store',
            field=models.ForeignKey(db_index=False, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='stores.store'),
        ),
    ]
