"""Tables that are divided by the numbers of their rows, which are their keys: histories, which are
kept for ever and whose lines are numbered in the order of time.

Ranges are made ahead. A row without one goes to the partition `rest`, so nothing is refused when
nobody has made its range.
"""

from django.db import connection

from apps.core.db.partitions import attempt

# Numbers of one range, as `number_range_make` of the migrations has them.
RANGE_ROWS = 50_000_000
# With its key, and the number before which its last range ends.
_TABLES = """
SELECT c.relname::text, a.attname::text, max(substring(pg_get_expr(r.relpartbound, r.oid)
    FROM 'TO \\(''(\\d+)''\\)')::bigint)
FROM pg_partitioned_table p JOIN pg_class c ON c.oid = p.partrelid
    JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum = p.partattrs[0]
    JOIN pg_inherits i ON i.inhparent = c.oid JOIN pg_class r ON r.oid = i.inhrelid
WHERE c.relnamespace = current_schema()::regnamespace AND p.partstrat = 'r' AND p.partnatts = 1
    AND a.atttypid = 'bigint'::regtype
GROUP BY 1, 2 ORDER BY 1
"""


def make_ahead() -> None:
    """The next range of each table that has less than half of one left. One that can't be made now
    is made by the next run."""
    for table, _, _ in _tables():
        attempt("number_range_make", [table])


def rows_ahead() -> dict[str, int]:
    """Number of numbers that each table has ranges for, after its newest row."""
    ahead = {}
    with connection.cursor() as cursor:
        for table, key, end in _tables():
            newest = f'SELECT coalesce(max("{key}"), 0) FROM "{table}"'  # noqa: S608  # names of the catalog
            cursor.execute(newest)
            ahead[table] = max(0, end - 1 - cursor.fetchone()[0])
    return ahead


def _tables() -> list[tuple[str, str, int]]:
    with connection.cursor() as cursor:
        cursor.execute(_TABLES)
        return list(cursor.fetchall())
