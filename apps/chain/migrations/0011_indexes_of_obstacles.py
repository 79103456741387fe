"""One index a beginning: obstacles are found by their key, which begins with the asset."""

import django.db.models.deletion
from django.db import migrations, models

_UNUSED = ("chain_obstacle_asset_id_60fce1cc", "chain_obstacle_asset_id_60fce1cc_like")


class Migration(migrations.Migration):
    atomic = False

    dependencies = [
        ('chain', '0010_obstacles'),
    ]

    operations = [
        *(
            migrations.RunSQL(f"DROP INDEX CONCURRENTLY IF EXISTS {name}", migrations.RunSQL.noop)
            for name in _UNUSED
        ),
        migrations.SeparateDatabaseAndState(
            state_operations=[
                migrations.AlterField(
                    model_name='obstacle',
                    name='asset',
                    field=models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name='+',
                        to='assets.asset',
                    ),
                ),
            ]
        ),
    ]
