"""Rows of a model that are read on every request, by a statement written once: the ORM would build
it anew each time."""

import uuid
from collections.abc import Callable, Sequence
from datetime import date, datetime
from decimal import Decimal
from functools import cached_property
from typing import Any, Generic, NamedTuple, TypeVar

from django.db import DEFAULT_DB_ALIAS, connections, models

from apps.core.db.sql import BlankParameter, Statement, statement_of
from apps.core.models import AtomicField, OptionalAtomicField

Row = TypeVar("Row", bound=models.Model)
# How a value comes back from JSON, by the kind of its column; whatever isn't here is in JSON what
# it is in Python.
_FROM_JSON: dict[str, Callable[[Any], Any]] = {
    "UUIDField": uuid.UUID,
    "DateTimeField": datetime.fromisoformat,
    "DateField": date.fromisoformat,
    "DecimalField": Decimal,
}


class Columns(Generic[Row]):
    """The columns of a model in a statement of one's own, where its table has this alias, and the
    rows made of what comes back.

    `text` are the columns themselves. `json` is one column, for `json_agg`: rows that belong to a
    row come with it.
    """

    def __init__(self, model: type[Row], alias: str) -> None:
        self.model = model
        fields = model._meta.concrete_fields
        self._names = [field.attname for field in fields]
        self.text = ", ".join(f'{alias}."{field.column}"' for field in fields)
        # What a column needs to become its attribute (JSON, whole numbers of any size).
        self._changes = [
            (place, field.from_db_value)
            for place, field in enumerate(fields)
            if hasattr(field, "from_db_value")
        ]
        kinds = [_kind(field) for field in fields]
        # As a number it would be rounded.
        casts = ["::text" if kind == "DecimalField" else "" for kind in kinds]
        columns = ", ".join(
            f'{alias}."{field.column}"{cast}' for field, cast in zip(fields, casts, strict=True)
        )
        self.json = f"json_build_array({columns})"
        self._changes_from_json = [
            (place, _FROM_JSON[kind]) for place, kind in enumerate(kinds) if kind in _FROM_JSON
        ]

    def __len__(self) -> int:
        return len(self._names)

    def row(self, values: Sequence[Any]) -> Row:
        converted = list(values)
        for place, change in self._changes:
            converted[place] = change(converted[place], None, connections[DEFAULT_DB_ALIAS])
        return self.model.from_db(DEFAULT_DB_ALIAS, self._names, converted)

    def row_from_json(self, values: list[Any]) -> Row:
        for place, change in self._changes_from_json:
            if values[place] is not None:
                values[place] = change(values[place])
        return self.model.from_db(DEFAULT_DB_ALIAS, self._names, values)


def _kind(field: Any) -> str:
    """The kind of a column's values; a foreign key's are those of what it points to, atomic units
    are whole numbers in JSON too."""
    if isinstance(field, (AtomicField, OptionalAtomicField)):
        return "AtomicField"
    return str((field.target_field if field.is_relation else field).get_internal_type())


class Rows(Generic[Row]):
    """`tail` is everything after FROM and the table's name, with the placeholders of a Statement.
    The rows are as the ORM gives them."""

    def __init__(self, model: type[Row], tail: str) -> None:
        table = model._meta.db_table
        self._columns = Columns(model, f'"{table}"')
        self._statement = Statement(f'SELECT {self._columns.text} FROM "{table}" {tail}')  # noqa: S608  # only names of columns

    def read(self, **values: Any) -> list[Row]:
        return [self._columns.row(row) for row in self._statement.rows(**values)]


class AnyViewer(NamedTuple):
    """The store and mode of a viewer who is named when the query is asked."""

    store_id: Any
    mode: Any


def any_viewer() -> AnyViewer:
    return AnyViewer(
        BlankParameter("store_id", models.UUIDField()), BlankParameter("mode", models.CharField())
    )


class _Part(NamedTuple):
    """The columns of one model among those of a row; `path` leads to it from the row's own."""

    path: tuple[str, ...]
    model: type[models.Model]
    names: list[str]
    changes: list[tuple[int, Callable[..., Any]]]
    pk_place: int


class Query(Generic[Row]):
    """A query of the ORM that is drawn up at its first use, with a BlankParameter for each value.

    Its rows are as `select_related` of these paths gives them: the ORM would build text, columns
    and conditions again each time, which takes longer than the server takes to answer (decision
    957).
    """

    def __init__(self, draw: "Callable[[], models.QuerySet[Row]]", *related: str) -> None:
        self._draw = draw
        self._related = related

    @cached_property
    def _drawn(self) -> tuple[list[_Part], Statement]:
        rows = self._draw()
        parts = [_part(rows.model, path) for path in ("", *self._related)]
        names = ["__".join((*part.path, name)) for part in parts for name in part.names]
        return parts, statement_of(rows.values_list(*names))

    def read(self, **values: Any) -> list[Row]:
        parts, statement = self._drawn
        return [self._row(parts, row) for row in statement.rows(**values)]

    def first(self, **values: Any) -> Row | None:
        rows = self.read(**values)
        return rows[0] if rows else None

    def _row(self, parts: list[_Part], values: Sequence[Any]) -> Row:
        made: dict[tuple[str, ...], Any] = {}
        begin = 0
        for part in parts:
            end = begin + len(part.names)
            own = list(values[begin:end])
            begin = end
            row = None if own[part.pk_place] is None else _made(part, own)
            made[part.path] = row
            if part.path and made[part.path[:-1]] is not None:
                setattr(made[part.path[:-1]], part.path[-1], row)
        result: Row = made[()]
        return result


def _part(model: type[models.Model], related: str) -> _Part:
    path = tuple(related.split("__")) if related else ()
    for name in path:
        model = _target(model, name)
    fields = [
        field
        for field in model._meta.concrete_fields
        if field.name not in getattr(model, "SECRETS", ())
    ]
    names = [field.attname for field in fields]
    changes = [
        (place, field.from_db_value)
        for place, field in enumerate(fields)
        if hasattr(field, "from_db_value")
    ]
    return _Part(path, model, names, changes, names.index(model._meta.pk.attname))


def _target(model: type[models.Model], name: str) -> type[models.Model]:
    target = model._meta.get_field(name).related_model
    if not isinstance(target, type):
        raise TypeError(f"{model.__name__}.{name} points to no row")
    return target


def _made(part: _Part, values: list[Any]) -> models.Model:
    for place, change in part.changes:
        values[place] = change(values[place], None, connections[DEFAULT_DB_ALIAS])
    return part.model.from_db(DEFAULT_DB_ALIAS, part.names, values)
