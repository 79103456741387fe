"""Tables that are divided by ranges of a column that grows with time, a step at a time: days or
months. Old rows go with their step, which is dropped and not deleted row by row.

Steps are made ahead. A row without one goes to the partition `rest`, so nothing is refused when
nobody has made its step. Anyone who needs a lock gives it up after a moment, and the next run tries
again (decisions 360, 430).
"""

import time
import uuid
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import pairwise
from typing import Any, NamedTuple, Protocol

import structlog
from django.db import OperationalError, connection, models, transaction
from psycopg.errors import DeadlockDetected, LockNotAvailable, ObjectInUse

from apps.core import ids

log = structlog.get_logger(__name__)
DAY = timedelta(days=1)
TRIES = 3
PAUSE_SECONDS = 1.0  # in which those that queued behind the lock are served
_PARTITIONS = """
SELECT name, NULLIF(bounds[1], 'MINVALUE'), NULLIF(bounds[2], 'MAXVALUE') FROM (
    SELECT c.relname::text AS name, regexp_match(replace(pg_get_expr(c.relpartbound, c.oid),
        '''', ''), 'FROM \\((.+)\\) TO \\((.+)\\)') AS bounds
    FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid WHERE i.inhparent = %s::regclass
) found WHERE bounds IS NOT NULL
"""


class Scale(Protocol):
    """The steps of a table, and how its column has them. A place is what steps are counted in."""

    def start_of(self, place: Any) -> Any:
        """Of the step that has the place."""

    def after(self, start: Any) -> Any:
        """The start of the next step."""

    def suffix(self, start: Any) -> str:
        """Suffix of a partition's name."""

    def value(self, place: Any) -> Any:
        """The least that the column can have from there on."""

    def place(self, value: str) -> Any:
        """A value as the catalog has it."""


class DaysOfTimes:
    """Days (UTC) of a column with times."""

    def start_of(self, place: datetime) -> datetime:
        return place.replace(hour=0, minute=0, second=0, microsecond=0)

    def after(self, start: datetime) -> datetime:
        return start + DAY

    def suffix(self, start: datetime) -> str:
        return f"{start:%Y%m%d}"

    def value(self, place: datetime) -> datetime:
        return place

    def place(self, value: str) -> datetime:
        return datetime.fromisoformat(value)


class MonthsOfIds:
    """Months (UTC) of a column with ids, which begin with their time."""

    def start_of(self, place: datetime) -> datetime:
        return place.replace(day=1, hour=0, minute=0, second=0, microsecond=0)

    def after(self, start: datetime) -> datetime:
        return (start + 31 * DAY).replace(day=1)

    def suffix(self, start: datetime) -> str:
        return f"{start:%Y%m}"

    def value(self, place: datetime) -> uuid.UUID:
        return ids.first_id(place)

    def place(self, value: str) -> datetime:
        at = ids.time_of(uuid.UUID(value))
        if at is None:
            raise ValueError(f"{value} is no bound of a month")
        return at


@dataclass(frozen=True)
class Division:
    """Tables that are divided at the same places, each with its column; first those that the others
    refer to, partition by partition.

    Nothing goes of which `waiting` has a row, by its own key.
    """

    columns: "Mapping[type[models.Model], str]"
    scale: Scale
    ahead: int
    waiting: "type[models.Model] | None" = None

    @property
    def tables(self) -> list[str]:
        return [model._meta.db_table for model in self.columns]


class Partition(NamedTuple):
    """Rows from `start` (None: from ever) to before `end` (None: for ever)."""

    name: str
    start: Any
    end: Any


def partitions(division: Division) -> list[Partition]:
    """Of the first table, oldest first; without `rest`, and without one for what no other has."""
    return [part for part in _ranges(division) if not _is_rest(division, part)]


def covered_until(division: Division, place: Any) -> Any:
    """Until where each row from the place on has a partition of its own step."""
    rest = _rest_start(division)
    if rest is not None:
        return max(place, rest)
    end = place
    for part in partitions(division):
        if part.start is None or part.start <= end:
            end = max(end, part.end)
    return end


def make_ahead(division: Division, place: Any) -> None:
    """The steps that are missing, as many ahead as the division says. One that can't be made now is
    made by the next run."""
    for start, end in list(_missing(division, place)):
        suffix, bounds = division.scale.suffix(start), map(division.scale.value, (start, end))
        if not attempt("partitions_make", [division.tables, suffix, *map(str, bounds)]):
            break


def drop_before(division: Division, before: Any) -> "dict[type[models.Model], int]":
    """Drop what ended by then; how many rows of each table went."""
    gone = dict.fromkeys(division.columns, 0)
    waiting = division.waiting._meta.db_table if division.waiting is not None else None
    for part in partitions(division):
        if part.end > before:
            break
        suffix = part.name.removeprefix(f"{division.tables[0]}_")
        counts = {
            model: model._default_manager.filter(_between(division, column, part)).count()
            for model, column in division.columns.items()
        }
        if attempt("partitions_drop", [division.tables, suffix, waiting]):
            gone = {model: gone[model] + count for model, count in counts.items()}
    return gone


def outside(division: Division, column: str) -> models.Q:
    """Rows that no step takes with it: those of before the table was divided, and of `rest`."""
    steps = [part for part in partitions(division) if part.start is not None]
    if not steps:
        return models.Q()
    value = division.scale.value
    condition = models.Q(**{f"{column}__lt": value(steps[0].start)})
    condition |= models.Q(**{f"{column}__gte": value(steps[-1].end)})
    for earlier, later in pairwise(steps):
        if earlier.end != later.start:
            gap = Partition("", earlier.end, later.start)
            condition |= _between(division, column, gap)
    return condition


def analyze_tables() -> None:
    """Bring up to date what PostgreSQL knows of divided tables, once a week; of their partitions it
    knows by itself."""
    attempt("partitions_analyze", [])


def attempt(function: str, values: list[Any]) -> bool:
    """True if it got its locks, in a few short attempts; not when something of it still waits."""
    marks = ", ".join(["%s"] * len(values))
    for attempt in range(TRIES):
        time.sleep(PAUSE_SECONDS if attempt else 0)
        try:
            with transaction.atomic(), connection.cursor() as cursor:
                cursor.execute(f"SELECT {function}({marks})", values)
        except OperationalError as error:
            if isinstance(error.__cause__, ObjectInUse):
                break
            if not isinstance(error.__cause__, LockNotAvailable | DeadlockDetected):
                raise
        else:
            return True
    log.warning("partition_waits", function=function, values=[str(value) for value in values])
    return False


def _ranges(division: Division) -> list[Partition]:
    def place(value: str | None) -> Any:
        return None if value is None else division.scale.place(value)

    with connection.cursor() as cursor:
        cursor.execute(_PARTITIONS, division.tables[:1])
        ranges = [Partition(name, place(start), place(end)) for name, start, end in cursor]
    return sorted(ranges, key=lambda part: (part.start is not None, part.start))


def _is_rest(division: Division, part: Partition) -> bool:
    return part.name == f"{division.tables[0]}_rest"


def _rest_start(division: Division) -> Any:
    """Start of `rest`, if it has a range; None if it has whatever no other has."""
    return next((part.start for part in _ranges(division) if _is_rest(division, part)), None)


def _missing(division: Division, place: Any) -> Iterator[tuple[Any, Any]]:
    """Missing partitions, by start and end. Where `rest` has whatever no other has, a step of which
    it has rows stays there; where it has a range, steps are cut from its beginning, and those that
    were missed are one."""
    scale = division.scale
    steps = [scale.start_of(place)]
    for _ in range(division.ahead + 1):
        steps.append(scale.after(steps[-1]))
    rest = _rest_start(division)
    if rest is not None:
        later = [step for step in steps[1:] if step > rest]
        yield from pairwise([rest, *later])
        return
    there = partitions(division)
    for start, end in pairwise(steps):
        is_covered = any(
            (part.start is None or part.start <= start) and start < part.end for part in there
        )
        if not is_covered and not _has_rows(division, Partition("", start, end)):
            yield start, end


def _has_rows(division: Division, part: Partition) -> bool:
    return any(
        model._default_manager.filter(_between(division, column, part)).exists()
        for model, column in division.columns.items()
    )


def _between(division: Division, column: str, part: Partition) -> models.Q:
    condition = models.Q(**{f"{column}__lt": division.scale.value(part.end)})
    if part.start is not None:
        condition &= models.Q(**{f"{column}__gte": division.scale.value(part.start)})
    return condition
