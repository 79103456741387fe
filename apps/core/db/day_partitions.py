"""Tables that are divided by the day of their rows (UTC), so that old rows go with their day: a day
is dropped, not deleted row by row (decision 360).

Days are made ahead. A row without a day goes to the partition `rest`, so nothing is refused when
nobody has made its day. Whoever needs a lock gives it up after a moment, and the next run tries
again.
"""

import time
from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Any, NamedTuple

import structlog
from django.db import OperationalError, connection, models, transaction
from psycopg.errors import DeadlockDetected, LockNotAvailable

log = structlog.get_logger(__name__)
AHEAD_DAYS = 7
DAY = timedelta(days=1)
TRIES = 3
PAUSE_SECONDS = 1.0  # in which those that queued behind the lock are served
_PARTITIONS = """
SELECT name, NULLIF(bounds[1], 'MINVALUE')::timestamptz, bounds[2]::timestamptz FROM (
    SELECT c.relname::text AS name, regexp_match(replace(pg_get_expr(c.relpartbound, c.oid),
        '''', ''), 'FROM \\((.+)\\) TO \\((.+)\\)') AS bounds
    FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid WHERE i.inhparent = %s::regclass
) found WHERE bounds IS NOT NULL ORDER BY 2 NULLS FIRST
"""


class DayPartition(NamedTuple):
    """Rows from `start` (None: from ever) to before `end`."""

    name: str
    start: datetime | None
    end: datetime

    @property
    def is_of_a_day(self) -> bool:
        """The first one, from before the table was divided, is longer."""
        return self.start is not None and self.end - self.start <= DAY


def partitions(model: "type[models.Model]") -> list[DayPartition]:
    """Oldest first, without `rest`."""
    with connection.cursor() as cursor:
        cursor.execute(_PARTITIONS, [model._meta.db_table])
        return [DayPartition(*row) for row in cursor.fetchall()]


def days_ahead(model: "type[models.Model]", now: datetime) -> float:
    """For how many days from now each row has a partition of its own time."""
    end = now
    for partition in partitions(model):
        if partition.start is None or partition.start <= end:
            end = max(end, partition.end)
    return (end - now) / DAY


def make_ahead(model: "type[models.Model]", now: datetime) -> None:
    """The days that are missing, up to AHEAD_DAYS from now. One that has rows in `rest` stays
    there."""
    there = partitions(model)
    today = now.replace(hour=0, minute=0, second=0, microsecond=0)
    for day in (today + n * DAY for n in range(AHEAD_DAYS + 1)):
        is_covered = any(
            (part.start is None or part.start <= day) and day < part.end for part in there
        )
        if not is_covered and not _has_rest(model, day):
            _try("SELECT day_partition_make(%s, %s)", [model._meta.db_table, day])


def drop_before(model: "type[models.Model]", before: datetime) -> int:
    """Drop what ended by then; how many rows went."""
    gone = 0
    for partition in partitions(model):
        if partition.end > before:
            break
        rows = model._default_manager.filter(created_at__lt=partition.end)
        if partition.start is not None:
            rows = rows.filter(created_at__gte=partition.start)
        count = rows.count()
        if not _try("SELECT day_partition_drop(%s, %s)", [model._meta.db_table, partition.name]):
            break
        gone += count
    return gone


def without_day(model: "type[models.Model]", before: datetime) -> "models.QuerySet[Any]":
    """Rows of before then that no day takes with it: those of the first partition, and of
    `rest`."""
    condition = models.Q(pk__in=[])
    for start, end in _gaps(model):
        if start is None or start < before:
            part = models.Q(created_at__lt=before if end is None else min(before, end))
            condition |= part if start is None else part & models.Q(created_at__gte=start)
    return model._default_manager.filter(condition)


def _gaps(model: "type[models.Model]") -> Iterator[tuple[datetime | None, datetime | None]]:
    """The times between which no partition is of one day."""
    start = None
    for partition in partitions(model):
        if partition.is_of_a_day:
            if partition.start != start:
                yield start, partition.start
            start = partition.end
    yield start, None


def _has_rest(model: "type[models.Model]", day: datetime) -> bool:
    rows = model._default_manager.filter(created_at__gte=day, created_at__lt=day + DAY)
    return rows.exists()


def _try(statement: str, values: list[Any]) -> bool:
    """Whether it got its locks, in a few short attempts."""
    for attempt in range(TRIES):
        time.sleep(PAUSE_SECONDS if attempt else 0)
        try:
            with transaction.atomic(), connection.cursor() as cursor:
                cursor.execute(statement, values)
        except OperationalError as error:
            if not isinstance(error.__cause__, LockNotAvailable | DeadlockDetected):
                raise
        else:
            return True
    log.warning("partition_waits", statement=statement, values=[str(value) for value in values])
    return False
