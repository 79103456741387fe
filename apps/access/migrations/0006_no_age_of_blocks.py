"""The age of blocks is asked by no list since these go by IDs. PostgreSQL drops an index of
partitions only while nobody uses them: in an instant, after a lock that is waited for five seconds at most."""

from django.db import migrations


def drop(apps, schema_editor):
    if schema_editor.collect_sql:  # only asked what it would run
        return
    with schema_editor.connection.cursor() as cursor:
        cursor.execute("SET LOCAL lock_timeout = '5s'")
        cursor.execute('DROP INDEX request_by_age')


class Migration(migrations.Migration):
    dependencies = [
        ('access', '0005_requests_by_status'),
    ]

    operations = [
        migrations.SeparateDatabaseAndState(
            database_operations=[migrations.RunPython(drop, migrations.RunPython.noop)],
            state_operations=[migrations.RemoveIndex(model_name='requestentry', name='request_by_age')],
        ),
    ]
