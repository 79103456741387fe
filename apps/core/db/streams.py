"""Results too long for the memory: read in one transaction into a file, and served from there.

So nothing waits in the database for anyone who reads slowly, and no cursor outlives its
transaction, which it couldn't behind a pooler.
"""

import pickle
import tempfile
import uuid
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

from django.db import connection, models

from apps.core.db.replica import complete_until, reads_may_lag
from apps.core.db.timeouts import long_statements

IN_MEMORY_BYTES = 4_000_000
FETCH = 1000


def rows_of(
    statement: str, values: Mapping[str, Any], until: datetime | None
) -> Iterator[tuple[Any, ...]]:
    """The rows of a statement, as they were at one moment, which may be some seconds ago; nothing
    that had happened by `until` is missing."""
    with tempfile.SpooledTemporaryFile(max_size=IN_MEMORY_BYTES) as file:
        with complete_until(until):
            parts = _copy(statement, values, file)
        file.seek(0)
        for _ in range(parts):
            yield from pickle.load(file)  # noqa: S301  # written above, to a file that nobody else can open


@reads_may_lag("entries of closed days, and exports of the ledger")
def _copy(statement: str, values: Mapping[str, Any], file: Any) -> int:
    name = f"rows_{uuid.uuid4().hex}"
    parts = 0
    file.seek(0)
    file.truncate()
    with long_statements(), connection.cursor() as cursor:
        cursor.execute(f"DECLARE {name} NO SCROLL CURSOR FOR {statement}", values)
        while True:
            cursor.execute(f"FETCH {FETCH} FROM {name}")
            if not (rows := cursor.fetchall()):
                break
            pickle.dump(rows, file, pickle.HIGHEST_PROTOCOL)
            parts += 1
        cursor.execute(f"CLOSE {name}")
    return parts


def models_of(rows: "models.QuerySet[Any]", keys: Sequence[Any]) -> Iterator[Any]:
    """Those of these rows that have these keys, which are in their order; read a thousand at a
    time."""
    for start in range(0, len(keys), FETCH):
        yield from rows.filter(pk__in=keys[start : start + FETCH])
