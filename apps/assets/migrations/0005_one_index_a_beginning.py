"""An index whose columns begin another one of the same rows answered nothing that the other doesn't, and
each write kept it."""

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    atomic = False

    dependencies = [
        ('assets', '0004_words_of_choices'),
        ('stores', '0028_one_index_a_beginning'),
    ]

    operations = [
        migrations.SeparateDatabaseAndState(
            database_operations=[
                migrations.RunSQL('DROP INDEX CONCURRENTLY IF EXISTS assets_acceptedasset_asset_id_4d1720e8_like', migrations.RunSQL.noop),
                migrations.RunSQL('DROP INDEX CONCURRENTLY IF EXISTS assets_acceptedasset_store_id_4bff8df5', migrations.RunSQL.noop),
                migrations.RunSQL('DROP INDEX CONCURRENTLY IF EXISTS assets_asset_chain_id_30d95133_like', migrations.RunSQL.noop),
                migrations.RunSQL('DROP INDEX CONCURRENTLY IF EXISTS assets_asset_id_7d663764_like', migrations.RunSQL.noop),
                migrations.RunSQL('DROP INDEX CONCURRENTLY IF EXISTS assets_chain_id_e1872ac1_like', migrations.RunSQL.noop),
                migrations.RunSQL('DROP INDEX CONCURRENTLY IF EXISTS assets_dailyrate_asset_id_347aba3d', migrations.RunSQL.noop),
                migrations.RunSQL('DROP INDEX CONCURRENTLY IF EXISTS assets_dailyrate_asset_id_347aba3d_like', migrations.RunSQL.noop),
                migrations.RunSQL('DROP INDEX CONCURRENTLY IF EXISTS assets_rate_asset_id_7732dee3', migrations.RunSQL.noop),
                migrations.RunSQL('DROP INDEX CONCURRENTLY IF EXISTS assets_rate_asset_id_7732dee3_like', migrations.RunSQL.noop),
            ],
            state_operations=[
                migrations.AlterField(
                    model_name='acceptedasset',
                    name='store',
                    field=models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='stores.store'),
                ),
                migrations.AlterField(
                    model_name='dailyrate',
                    name='asset',
                    field=models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='assets.asset'),
                ),
                migrations.AlterField(
                    model_name='rate',
                    name='asset',
                    field=models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='assets.asset'),
                ),
            ],
        ),
    ]
