"""An index whose columns begin another one of the same rows answered nothing that the other doesn't, and
each write kept it."""

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    atomic = False

    dependencies = [
        ('stores', '0028_one_index_a_beginning'),
        ('webhooks', '0013_events_pruned_unread'),
    ]

    operations = [
        migrations.SeparateDatabaseAndState(
            database_operations=[
                migrations.RunSQL('DROP INDEX CONCURRENTLY IF EXISTS webhooks_endpoint_store_id_09a1da71', migrations.RunSQL.noop),
                migrations.RunSQL('DROP INDEX CONCURRENTLY IF EXISTS webhooks_event_store_id_362b3bf1', migrations.RunSQL.noop),
                migrations.RunSQL('DROP INDEX CONCURRENTLY IF EXISTS webhooks_host_name_8b8832a6_like', migrations.RunSQL.noop),
            ],
            state_operations=[
                migrations.AlterField(
                    model_name='endpoint',
                    name='store',
                    field=models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='stores.store'),
                ),
                migrations.AlterField(
                    model_name='event',
                    name='store',
                    field=models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='stores.store'),
                ),
            ],
        ),
    ]
