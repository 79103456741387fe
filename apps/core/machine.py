"""Legal moves of a status column, and the compare-and-set that makes a move happen once."""

from collections.abc import Collection, Mapping
from typing import Any

from django.db import models


class IllegalMove(Exception):
    """A move that the table doesn't have: a bug of ours, never a caller's."""


class Machine:
    """A table of moves `{from: {to, …}}` over a model's `status`."""

    def __init__(self, moves: Mapping[str, Collection[str]]) -> None:
        self.moves = {origin: frozenset(targets) for origin, targets in moves.items()}

    def move(self, row: models.Model, to: str, **changes: Any) -> bool:
        """Move the row if it still stands where this copy of it stands; False when somebody was faster."""
        origin: str = row.status  # type: ignore[attr-defined]  # every machine's model has a status column
        if to not in self.moves.get(origin, ()):
            raise IllegalMove(f"{type(row).__name__} {row.pk}: {origin} to {to}")
        moved = type(row)._default_manager.filter(pk=row.pk, status=origin).update(status=to, **changes)
        if moved:
            for name, value in {"status": to, **changes}.items():
                setattr(row, name, value)
        return bool(moved)
