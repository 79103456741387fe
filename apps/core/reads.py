"""Rows of a model that are read on every request, by a statement written once: the ORM would build it anew each time."""

from typing import Any, Generic, TypeVar

from django.db import DEFAULT_DB_ALIAS, connections, models

from apps.core.sql import Statement

Row = TypeVar("Row", bound=models.Model)


class Rows(Generic[Row]):
    """`tail` is everything after FROM and the table's name, with the placeholders of a Statement. The rows are as the ORM gives them."""

    def __init__(self, model: type[Row], tail: str) -> None:
        self.model, fields = model, model._meta.concrete_fields
        self._names = [field.attname for field in fields]
        # What a column needs to become its attribute (JSON, whole numbers of any size).
        self._changes = [(place, field.from_db_value) for place, field in enumerate(fields) if hasattr(field, "from_db_value")]
        columns = ", ".join(f'"{field.column}"' for field in fields)
        self._statement = Statement(f'SELECT {columns} FROM "{model._meta.db_table}" {tail}')  # noqa: S608  # only names of columns

    def read(self, **values: Any) -> list[Row]:
        return [self._made(list(row)) for row in self._statement.rows(**values)]

    def _made(self, row: list[Any]) -> Row:
        for place, change in self._changes:
            row[place] = change(row[place], None, connections[DEFAULT_DB_ALIAS])
        return self.model.from_db(DEFAULT_DB_ALIAS, self._names, row)
