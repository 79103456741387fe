"""Statements that run on every request: bound by the server and prepared, so PostgreSQL plans each
once per connection.

Django's cursor puts parameters into the text, which PostgreSQL parses and plans again each time;
psycopg's searches every text for placeholders again (half of a payment's database time). A
`Statement` is read once. Placeholders whose type the server can't infer need a cast.
"""

import re
from collections.abc import Iterable, Mapping
from datetime import date
from decimal import Decimal
from typing import TYPE_CHECKING, Any
from uuid import UUID

import psycopg
from django.conf import settings
from django.db import (
    DEFAULT_DB_ALIAS,
    DatabaseError,
    DataError,
    IntegrityError,
    connections,
    models,
)
from django.db.models import AutoField, Model

from apps.core.db import tenancy
from apps.core.db.postgresql.prepared import KeptStatements, PreparedCursor

if TYPE_CHECKING:
    from django.db.backends.base.base import BaseDatabaseWrapper
    from django.db.models.sql.compiler import SQLCompiler

_PLACEHOLDER = re.compile(r"%\((\w+)\)s")
_PERCENT = re.compile(r"%(?!\(\w+\)s)")
# What a statement's names may represent: what the driver adapts without a type.
Value = bool | int | Decimal | str | bytes | date | UUID | list[Any] | None
Arguments = Mapping[str, Value]


class Statement:
    """A text with `%(name)s` placeholders, each of which may be in it several times.

    One that `stays` keeps its cursor on each connection, and so what its values and columns are
    turned into text and back by, which takes a third of its time; and its last rows, which are to
    be few.
    """

    def __init__(self, text: str, *, stays: bool = False) -> None:
        self.stays = stays
        self.names = list(dict.fromkeys(_PLACEHOLDER.findall(text)))
        number = {name: f"${n}" for n, name in enumerate(self.names, start=1)}
        self.text = _PLACEHOLDER.sub(lambda match: number[match[1]], text)
        self._with_values = _PERCENT.sub("%%", text)

    def rows(self, **values: Any) -> list[tuple[Any, ...]]:
        """Rows of the statement on the default connection; errors are Django's, as from
        `connection.cursor()`."""
        connection = connections[DEFAULT_DB_ALIAS]
        connection.close_if_health_check_failed()
        connection.ensure_connection()
        try:
            return self._rows_of(connection, values)
        except (DataError, IntegrityError):
            raise
        except DatabaseError:  # a table may have been altered by another connection
            KeptStatements.forget(connection.connection)
            raise

    def _rows_of(
        self, connection: "BaseDatabaseWrapper", values: Arguments
    ) -> list[tuple[Any, ...]]:
        # What is bound and prepared is one statement. The first of a request, which takes its scope
        # with it, is a text of two.
        is_text: bool = connection.has_to_tell()  # type: ignore[attr-defined]  # db.postgresql
        is_logged = connection.queries_logged
        rows: list[tuple[Any, ...]]
        if not (is_text or is_logged or len(connection.execute_wrappers) > 1):
            # With its scope set already, a statement passes by the wrapper that sets it, if that
            # is the only one.
            connection.validate_no_broken_transaction()
            with connection.wrap_database_errors:
                bare = (
                    connection.kept_cursor(self)  # type: ignore[attr-defined]  # db.postgresql
                    if self.stays
                    else PreparedCursor(connection.connection)
                )
                bare.execute(self.text, [values[name] for name in self.names])
                rows = bare.fetchall()
            return rows
        wrap = connection.make_debug_cursor if is_logged else connection.make_cursor
        kind, text = (
            (psycopg.ClientCursor, self._with_values) if is_text else (PreparedCursor, self.text)
        )
        with wrap(kind(connection.connection)) as cursor:  # type: ignore[arg-type]  # the stubs know the wrapper alone
            cursor.execute(text, values if is_text else [values[name] for name in self.names])
            rows = cursor.fetchall()
        return rows


def rows_in_turn(*statements: Statement, **values: Any) -> list[tuple[Any, ...]]:
    """Rows of the last of several statements that go to the server in one message, which is one
    transaction. Each sees what was committed before it began; errors are Django's."""
    connection = connections[DEFAULT_DB_ALIAS]
    connection.close_if_health_check_failed()
    connection.ensure_connection()
    if (
        connection.has_to_tell()  # type: ignore[attr-defined]  # db.postgresql
        or connection.queries_logged
        or len(connection.execute_wrappers) > 1
    ):
        with connection.cursor() as cursor:
            cursor.execute("; ".join(one._with_values for one in statements), values)
            while cursor.nextset():
                pass
            last: list[tuple[Any, ...]] = cursor.fetchall()
            return last
    connection.validate_no_broken_transaction()
    driver = connection.connection
    try:
        with connection.wrap_database_errors, driver.pipeline():
            for one in statements:
                place = PreparedCursor(driver)
                place.execute(one.text, [values[name] for name in one.names])
            return place.fetchall()
    except DatabaseError:  # a table may have been altered by another connection
        KeptStatements.forget(driver)
        raise


class Narrowing(Statement):
    """Finds out whose rows its connection is to be shown, and says so to the server itself: no
    statement more than without.

    It reads owned rows by a function that is shown all of them. `s` is the store that it finds, `k`
    has the mode; `narrow` follows.
    """

    COLUMN = (
        "concat(set_config('tillgate.stores', '{' || s.id || '}', %(is_local)s::boolean),"
        " set_config('tillgate.modes', '{' || k.mode || '}', %(is_local)s::boolean),"
        " set_config('tillgate.told', '{' || concat_ws(',', s.id, s.platform_id) || '}',"
        " %(is_local)s::boolean))"
    )

    def rows(self, **values: Any) -> list[tuple[Any, ...]]:
        connection = connections[DEFAULT_DB_ALIAS]
        connection.begin_telling()  # type: ignore[attr-defined]  # db.postgresql
        try:
            return super().rows(is_local=settings.DATABASE_POOLER, **values)
        finally:
            connection.end_telling()  # type: ignore[attr-defined]  # db.postgresql

    @staticmethod
    def narrow(store: tenancy.OwnedStore, mode: str) -> None:
        """Narrows the request to a store and mode from here on, in the server too."""
        tenancy.narrow(store, modes=[mode])
        connections[DEFAULT_DB_ALIAS].record_scope(tenancy.current())  # type: ignore[attr-defined]  # db.postgresql


class BlankParameter(models.Value):
    """Represents in a query a value that is known by its name and type alone."""

    def as_sql(
        self, compiler: "SQLCompiler", connection: "BaseDatabaseWrapper"
    ) -> tuple[str, tuple[str | int, ...]]:
        return f"%%({self.value})s::{self.output_field.db_type(connection)}", ()


def statement_of(rows: "models.QuerySet[Any, Any]") -> Statement:
    """The query, drawn up once: its statement wants the values of its blanks. What else it compares
    with is named by code and stays in the text, by which PostgreSQL finds partial indexes."""
    connection = connections[DEFAULT_DB_ALIAS]
    text, values = rows.query.get_compiler(connection=connection).as_sql()
    with connection.cursor() as cursor:
        return Statement(cursor.mogrify(text, values))


def statement_of_names(
    kinds: "Mapping[str, models.QuerySet[Any, Any]]", *, limit: int
) -> Statement:
    """Says the name of a kind once for each of its rows, `limit` at most: one statement for all."""
    queries = [
        rows.order_by()
        .annotate(kind_name=models.Value(name, models.CharField()))
        .values_list("kind_name", flat=True)[:limit]
        for name, rows in kinds.items()
    ]
    return statement_of(queries[0].union(*queries[1:], all=True))


_INSERTS: dict[type[Model], tuple[list[Any], Statement]] = {}


def insert(row: Model) -> None:
    """Equals `row.save(force_insert=True)` without signals, by a prepared statement: a third of its
    time."""
    model = type(row)
    if model not in _INSERTS:
        fields = [
            field for field in model._meta.concrete_fields if not isinstance(field, AutoField)
        ]
        columns = ", ".join(f'"{field.column}"' for field in fields)
        values = ", ".join(f"%({field.column})s" for field in fields)
        pk = model._meta.pk.column
        table = model._meta.db_table
        text = f'INSERT INTO "{table}" ({columns}) VALUES ({values}) RETURNING "{pk}"'  # noqa: S608  # names of our own tables
        _INSERTS[model] = fields, Statement(text, stays=True)
    fields, statement = _INSERTS[model]
    connection = connections[DEFAULT_DB_ALIAS]
    ((row.pk,),) = statement.rows(
        **{
            str(field.column): field.get_db_prep_save(field.pre_save(row, True), connection)
            for field in fields
        }
    )
    row._state.adding = False
    row._state.db = DEFAULT_DB_ALIAS


def array(values: Iterable[object]) -> str:
    """An array as PostgreSQL reads it from text, which a cast makes of its type; psycopg looks at
    each value several times."""
    return (
        "{"
        + ",".join(
            '"' + str(value).replace("\\", "\\\\").replace('"', '\\"') + '"' for value in values
        )
        + "}"
    )
