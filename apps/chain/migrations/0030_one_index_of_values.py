"""Beside an index of the rows that have a value, one of all rows also kept those without."""

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    atomic = False

    dependencies = [
        ('assets', '0005_one_index_a_beginning'),
        ('chain', '0029_one_index_a_beginning'),
    ]

    operations = [
        migrations.SeparateDatabaseAndState(
            database_operations=[
                migrations.RunSQL('DROP INDEX CONCURRENTLY IF EXISTS chain_address_native_chain_id_a68323c0', migrations.RunSQL.noop),
            ],
            state_operations=[
                migrations.AlterField(
                    model_name='address',
                    name='native_chain',
                    field=models.ForeignKey(db_index=False, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='assets.chain'),
                ),
            ],
        ),
    ]
