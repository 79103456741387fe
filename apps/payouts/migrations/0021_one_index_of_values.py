"""Beside an index of the rows that have a value, one of all rows also kept those without."""

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    atomic = False

    dependencies = [
        ('payouts', '0020_one_index_a_beginning'),
    ]

    operations = [
        migrations.SeparateDatabaseAndState(
            database_operations=[
                migrations.RunSQL('DROP INDEX CONCURRENTLY IF EXISTS payouts_payout_schedule_id_38d9498a', migrations.RunSQL.noop),
            ],
            state_operations=[
                migrations.AlterField(
                    model_name='payout',
                    name='schedule',
                    field=models.ForeignKey(db_index=False, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='payouts.schedule'),
                ),
            ],
        ),
    ]
