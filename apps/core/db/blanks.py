"""A query that is drawn up once and asked with other values each time: drawn up by Django and
planned by PostgreSQL anew, it may take longer than its rows do.

A `Blank` stands where such a value goes. Whatever else the query compares with is a value that code
names, and part of its text, by which PostgreSQL knows that a partial index holds what is asked for.
"""

from typing import Any

from django.db import DEFAULT_DB_ALIAS, connections
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.models import QuerySet, Value
from django.db.models.sql.compiler import SQLCompiler

from apps.core.db.sql import Statement


class Blank(Value):
    """A value that is known by its name and type alone."""

    def as_sql(
        self, compiler: SQLCompiler, connection: BaseDatabaseWrapper
    ) -> tuple[str, tuple[str | int, ...]]:
        return f"%%({self.value})s::{self.output_field.db_type(connection)}", ()


def statement_of(rows: "QuerySet[Any, Any]") -> Statement:
    """The query's, which wants the values of its blanks by their names."""
    connection = connections[DEFAULT_DB_ALIAS]
    text, values = rows.query.get_compiler(connection=connection).as_sql()
    with connection.cursor() as cursor:
        return Statement(cursor.mogrify(text, values))
