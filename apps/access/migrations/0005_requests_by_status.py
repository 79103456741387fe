"""Calls that were redirected, rejected or failed, newest first: day by day, while others write. Days that are
made meanwhile have the indexes from the beginning."""

from django.db import migrations, models

TABLE = "access_requestentry"
CLASSES = {"request_redirected": 300, "request_rejected": 400, "request_failed": 500}
COLUMNS = "(store_id, mode, created_at DESC) WHERE status >= {} AND status < {}"
# The days whose index isn't part of the table's yet, each with what a run that was stopped has left.
MISSING = """
SELECT c.relname, left_over.relname
FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
LEFT JOIN pg_class left_over ON left_over.relname = %(index)s || '_'
    || substr(c.relname, length(%(table)s) + 2) AND left_over.relkind = 'i'
WHERE i.inhparent = %(table)s::regclass AND NOT EXISTS (
    SELECT FROM pg_index x JOIN pg_inherits p ON p.inhrelid = x.indexrelid
    WHERE x.indrelid = c.oid AND p.inhparent = %(index)s::regclass)
ORDER BY c.relname
"""


def build(apps, schema_editor):
    for index, first in CLASSES.items():
        build_one(schema_editor.connection, index, COLUMNS.format(first, first + 100))


def build_one(connection, index, columns):
    with connection.cursor() as cursor:
        cursor.execute(f"CREATE INDEX IF NOT EXISTS {index} ON ONLY {TABLE} {columns}")
        cursor.execute(MISSING, {"table": TABLE, "index": index})
        for day, left_over in cursor.fetchall():
            name = f"{index}_{day.removeprefix(f'{TABLE}_')}"
            if left_over:
                cursor.execute(f"DROP INDEX CONCURRENTLY {name}")
            cursor.execute(f"CREATE INDEX CONCURRENTLY {name} ON {day} {columns}")
            cursor.execute(f"ALTER INDEX {index} ATTACH PARTITION {name}")


class Migration(migrations.Migration):
    atomic = False

    dependencies = [("access", "0004_requests_by_record")]

    operations = [
        migrations.SeparateDatabaseAndState(
            database_operations=[
                migrations.RunPython(build, migrations.RunPython.noop),
                migrations.RunSQL(migrations.RunSQL.noop, f"DROP INDEX IF EXISTS {', '.join(CLASSES)}"),
            ],
            state_operations=[
                migrations.AddIndex(
                    model_name="requestentry",
                    index=models.Index(
                        condition=models.Q(("status__gte", first), ("status__lt", first + 100)),
                        fields=["store", "mode", "-created_at"],
                        name=index,
                    ),
                )
                for index, first in CLASSES.items()
            ],
        ),
    ]
