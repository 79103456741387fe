"""THE way in which a status changes: its table is asked, the row written if it still has that
status, its history kept with it.

Each noun declares its machine in its `states.py`; the recorder that writes its history and events
registers itself there.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Generic, TypeVar, cast

from django.db import connection, models, transaction


class IllegalMove(Exception):
    """A move that the table doesn't have, or of a row that isn't where its lock keeps it: a bug of
    ours, never a caller's."""


@dataclass(frozen=True)
class Step:
    """Target of a change of status. A noun whose history says more derives from it."""

    status: str


@dataclass(frozen=True)
class StepWithNote(Step):
    """With what its line of history says about it."""

    note: str = ""


RowT = TypeVar("RowT", bound=models.Model)
StepT = TypeVar("StepT", bound=Step)


@dataclass(frozen=True)
class Change(Generic[RowT, StepT]):
    """A step that a row has taken; the row itself shows the last one of its change."""

    row: RowT
    before: str
    step: StepT
    at: datetime


Recorder = Callable[[Sequence[Change[RowT, StepT]]], None]


class Machine(Generic[RowT, StepT]):
    """A table of moves `{from: {to, …}}` over a model's `status`. One without history says so:
    nothing is left out by chance."""

    def __init__(self, moves: Mapping[str, Collection[str]], *, has_history: bool = True) -> None:
        self.moves = {origin: frozenset(targets) for origin, targets in moves.items()}
        self.has_history = has_history
        self._recorder: Recorder[RowT, StepT] | None = None

    def recorder(self, record: Recorder[RowT, StepT]) -> Recorder[RowT, StepT]:
        """Register what writes history and events of this machine's changes, in their
        transaction."""
        self._recorder = record
        return record

    def change_status(self, row: RowT, *steps: StepT, at: datetime, **columns: Any) -> bool:
        """Take the steps if the row still has the status of this copy of it; False when somebody
        was faster.

        The row is written once, with `columns`; each step is recorded. Raises IllegalMove for one
        that the table doesn't have.
        """
        origin = before = _status(row)
        for step in steps:
            self._check(row, before, step)
            before = step.status
        changes = {"status": before, **columns}
        with self._whole():
            rows = type(row)._default_manager.filter(pk=row.pk, status=origin)
            if not rows.update(**changes):
                return False
            _show(row, changes)
            self._record(_changes(row, origin, steps, at))
        return True

    def change_locked(self, row: RowT, *steps: StepT, at: datetime, **columns: Any) -> None:
        """Changes a row that the caller has locked. Raises IllegalMove too when it is elsewhere
        than this copy of it."""
        if not self.change_status(row, *steps, at=at, **columns):
            raise IllegalMove(f"{type(row).__name__} {row.pk} was changed by somebody else")

    def change_many(
        self,
        rows: Sequence[RowT],
        step: StepT,
        *,
        ats: Sequence[datetime],
        each: Mapping[str, Sequence[Any]],
        **columns: Any,
    ) -> list[RowT]:
        """Takes the same step with many rows of one table in one statement, and returns those that
        took it.

        `each` has a value per row for its columns, in the rows' order, as has `ats`; `columns` are
        the same for all.
        """
        if not rows:
            return []
        for row in rows:
            self._check(row, _status(row), step)
        shared = {"status": step.status, **columns}
        with self._whole():
            moved = _update(rows, shared, each)
            changes = []
            for number, (row, at) in enumerate(zip(rows, ats, strict=True)):
                if row.pk in moved:
                    changes.append(Change(row, _status(row), step, at))
                    _show(
                        row, {**shared, **{name: values[number] for name, values in each.items()}}
                    )
            self._record(changes)
        return [change.row for change in changes]

    def change_all(
        self, rows: "models.QuerySet[RowT]", origin: str, step: StepT, **columns: Any
    ) -> int:
        """Moves every row of a query that is at `origin`, unread; how many rows. Only of a machine
        without history."""
        if self.has_history or step.status not in self.moves.get(origin, ()):
            raise IllegalMove(f"{rows.model.__name__}: {origin} to {step.status}")
        return rows.filter(status=origin).update(status=step.status, **columns)

    @staticmethod
    def show(row: RowT, status: str) -> None:
        """A statement of the caller's has found the row there, under its lock: this copy of it
        shows that too."""
        _show(row, {"status": status})

    def _whole(self) -> AbstractContextManager[None]:
        """The row and its history in one transaction. No savepoint: a caller who goes on after a
        failure has one of its own."""
        return transaction.atomic(savepoint=False) if self.has_history else nullcontext()

    def _check(self, row: RowT, before: str, step: StepT) -> None:
        if step.status not in self.moves.get(before, ()):
            raise IllegalMove(f"{type(row).__name__} {row.pk}: {before} to {step.status}")

    def _record(self, changes: Sequence[Change[RowT, StepT]]) -> None:
        if self._recorder is not None:
            self._recorder(changes)
        elif self.has_history:
            raise IllegalMove("Nobody records what this machine does")


def _status(row: models.Model) -> str:
    return str(row.status)  # type: ignore[attr-defined]  # every machine's model has a status column


def _show(row: models.Model, columns: Mapping[str, Any]) -> None:
    for name, value in columns.items():
        setattr(row, name, value)


def _changes(
    row: RowT, origin: str, steps: Sequence[StepT], at: datetime
) -> list[Change[RowT, StepT]]:
    origins = [origin, *(step.status for step in steps)]
    return [Change(row, before, step, at) for before, step in zip(origins, steps, strict=False)]


def _update(
    rows: Sequence[models.Model], shared: Mapping[str, Any], each: Mapping[str, Sequence[Any]]
) -> set[Any]:
    """Updates rows that still have the status of these copies, and returns their keys."""
    meta = type(rows[0])._meta
    columns: dict[str, Sequence[Any]] = {
        "pk": [row.pk for row in rows],
        "origin": [_status(row) for row in rows],
        **each,
    }
    fields = {
        name: cast("models.Field[Any, Any]", meta.get_field(name)) for name in [*each, *shared]
    }
    fields |= {"pk": meta.pk, "origin": fields["status"]}
    quote = connection.ops.quote_name
    key = str(fields["pk"].column)
    arrays = ", ".join(f"%s::{fields[name].db_type(connection)}[]" for name in columns)
    sets = [f"{quote(str(fields[name].column))} = %s" for name in shared] + [
        f"{quote(str(fields[name].column))} = n.{quote(name)}" for name in each
    ]
    names = ", ".join(quote(name) for name in columns)
    statement = (
        f"UPDATE {quote(meta.db_table)} AS t SET {', '.join(sets)} "  # noqa: S608
        f"FROM unnest({arrays}) AS n ({names}) "
        f"WHERE t.{quote(key)} = n.pk AND t.status = n.origin RETURNING t.{quote(key)}"
    )
    prepared = [fields[name].get_db_prep_value(value, connection) for name, value in shared.items()]
    listed = [
        [fields[name].get_db_prep_value(value, connection) for value in values]
        for name, values in columns.items()
    ]
    with connection.cursor() as cursor:
        cursor.execute(statement, [*prepared, *listed])
        return {pk for (pk,) in cursor.fetchall()}
