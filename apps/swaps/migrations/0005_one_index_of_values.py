"""Beside an index of the rows that have a value, one of all rows also kept those without."""

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    atomic = False

    dependencies = [
        ('payments', '0036_one_index_a_beginning'),
        ('swaps', '0004_one_index_a_beginning'),
    ]

    operations = [
        migrations.SeparateDatabaseAndState(
            database_operations=[
                migrations.RunSQL('DROP INDEX CONCURRENTLY IF EXISTS swaps_swap_payment_id_ae4b7968', migrations.RunSQL.noop),
            ],
            state_operations=[
                migrations.AlterField(
                    model_name='swap',
                    name='payment',
                    field=models.ForeignKey(db_index=False, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='payments.payment'),
                ),
            ],
        ),
    ]
