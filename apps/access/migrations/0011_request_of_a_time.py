"""The key of a request entry when its table is divided by time; built while others write."""

from django.db import migrations


class Migration(migrations.Migration):
    atomic = False

    dependencies = [
        ('access', '0010_waiting_period_settings'),
    ]

    operations = [
        # What an interrupted run left is built anew.
        migrations.RunSQL('DROP INDEX CONCURRENTLY IF EXISTS request_of_a_time', migrations.RunSQL.noop),
        migrations.RunSQL(
            'CREATE UNIQUE INDEX CONCURRENTLY request_of_a_time ON access_requestentry (id, created_at)',
            'DROP INDEX CONCURRENTLY IF EXISTS request_of_a_time',
        ),
        # Another index begins with the store.
        migrations.RunSQL(
            'DROP INDEX CONCURRENTLY IF EXISTS access_requestentry_store_id_fecc3e0c', migrations.RunSQL.noop
        ),
    ]
