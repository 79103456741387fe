"""Legal moves of a status column, and the compare-and-set that makes a move happen once."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from django.db import connection, models


class IllegalMove(Exception):
    """A move that the table doesn't have: a bug of ours, never a caller's."""


class Machine:
    """A table of moves `{from: {to, …}}` over a model's `status`."""

    def __init__(self, moves: Mapping[str, Collection[str]]) -> None:
        self.moves = {origin: frozenset(targets) for origin, targets in moves.items()}

    def move(self, row: models.Model, to: str, **changes: Any) -> bool:
        """Move the row if it still stands where this copy of it stands; False when somebody was faster."""
        return self.walk(row, [to], **changes)

    def walk(self, row: models.Model, path: Sequence[str], **changes: Any) -> bool:
        """The same by several moves, of which nobody sees more than the last."""
        origin: str = row.status  # type: ignore[attr-defined]  # every machine's model has a status column
        for place, to in zip([origin, *path], path, strict=False):
            if to not in self.moves.get(place, ()):
                raise IllegalMove(f"{type(row).__name__} {row.pk}: {place} to {to}")
        to = path[-1]
        moved = type(row)._default_manager.filter(pk=row.pk, status=origin).update(status=to, **changes)
        if moved:
            for name, value in {"status": to, **changes}.items():
                setattr(row, name, value)
        return bool(moved)

    def move_many(self, rows: Sequence[models.Model], to: str, each: Mapping[str, Sequence[Any]], **changes: Any) -> list[models.Model]:
        """The same for many rows of one table in one statement: those that moved.

        `each` has a value per row for its columns, in the rows' order; `changes` are the same for all.
        """
        if not rows:
            return []
        for row in rows:
            origin: str = row.status  # type: ignore[attr-defined]  # as above
            if to not in self.moves.get(origin, ()):
                raise IllegalMove(f"{type(row).__name__} {row.pk}: {origin} to {to}")
        shared = {"status": to, **changes}
        moved = _update(rows, shared, each)
        found = [row for row in rows if row.pk in moved]
        for number, row in enumerate(rows):
            if row.pk in moved:
                for name, value in {**shared, **{name: values[number] for name, values in each.items()}}.items():
                    setattr(row, name, value)
        return found


def _update(rows: Sequence[models.Model], shared: Mapping[str, Any], each: Mapping[str, Sequence[Any]]) -> set[Any]:
    """One UPDATE of the rows that still stand where these copies stand; the keys of those."""
    meta = type(rows[0])._meta
    columns = {"pk": [row.pk for row in rows], "origin": [row.status for row in rows], **each}  # type: ignore[attr-defined]  # as above
    fields: dict[str, Any] = {name: meta.get_field(name) for name in [*each, *shared]}
    fields |= {"pk": meta.pk, "origin": fields["status"]}
    quote, key = connection.ops.quote_name, str(fields["pk"].column)
    arrays = ", ".join(f"%s::{fields[name].db_type(connection)}[]" for name in columns)
    sets = [f"{quote(fields[name].column)} = %s" for name in shared] + [f"{quote(fields[name].column)} = n.{quote(name)}" for name in each]
    names = ", ".join(quote(name) for name in columns)
    statement = (
        f"UPDATE {quote(meta.db_table)} AS t SET {', '.join(sets)} FROM unnest({arrays}) AS n ({names}) "  # noqa: S608
        f"WHERE t.{quote(key)} = n.pk AND t.status = n.origin RETURNING t.{quote(key)}"
    )
    prepared = [fields[name].get_db_prep_value(value, connection) for name, value in shared.items()]
    listed = [[fields[name].get_db_prep_value(value, connection) for value in values] for name, values in columns.items()]
    with connection.cursor() as cursor:
        cursor.execute(statement, [*prepared, *listed])
        return {pk for (pk,) in cursor.fetchall()}
