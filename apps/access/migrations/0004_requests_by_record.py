"""Calls by their record: day by day, while others write. Days that are made meanwhile have the index from
the beginning."""

from django.db import migrations, models

TABLE = "access_requestentry"
INDEX = "request_by_record"
CONDITION = "(store_id, record_id) WHERE record_id IS NOT NULL"
# The days whose index isn't part of the table's yet, each with what a run that was stopped has left.
MISSING = """
SELECT c.relname, left_over.relname
FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
LEFT JOIN pg_class left_over ON left_over.relname = 'request_by_record_'
    || substr(c.relname, length(%(table)s) + 2) AND left_over.relkind = 'i'
WHERE i.inhparent = %(table)s::regclass AND NOT EXISTS (
    SELECT FROM pg_index x JOIN pg_inherits p ON p.inhrelid = x.indexrelid
    WHERE x.indrelid = c.oid AND p.inhparent = %(index)s::regclass)
ORDER BY c.relname
"""


def build(apps, schema_editor):
    with schema_editor.connection.cursor() as cursor:
        cursor.execute(f"CREATE INDEX IF NOT EXISTS {INDEX} ON ONLY {TABLE} {CONDITION}")
        cursor.execute(MISSING, {"table": TABLE, "index": INDEX})
        for day, left_over in cursor.fetchall():
            name = f"{INDEX}_{day.removeprefix(f'{TABLE}_')}"
            if left_over:
                cursor.execute(f"DROP INDEX CONCURRENTLY {name}")
            cursor.execute(f"CREATE INDEX CONCURRENTLY {name} ON {day} {CONDITION}")
            cursor.execute(f"ALTER INDEX {INDEX} ATTACH PARTITION {name}")


class Migration(migrations.Migration):
    atomic = False

    dependencies = [("access", "0003_record_of_request")]

    operations = [
        migrations.SeparateDatabaseAndState(
            database_operations=[
                migrations.RunPython(build, migrations.RunPython.noop),
                migrations.RunSQL(migrations.RunSQL.noop, f"DROP INDEX IF EXISTS {INDEX}"),
            ],
            state_operations=[
                migrations.AddIndex(
                    model_name="requestentry",
                    index=models.Index(
                        condition=models.Q(("record_id__isnull", False)),
                        fields=["store", "record_id"],
                        name=INDEX,
                    ),
                ),
            ],
        ),
    ]
