"""Django's PostgreSQL, with a scope on the connection (core.db.tenancy), and usable without a round
trip.

Django asks `SELECT 1` before the first statement of every request (measured: a tenth of a payment's
database time). A server that went away has closed its end of the socket, so an idle connection with
something to read is the one to ask.
"""

import select
from collections.abc import Callable, Mapping
from typing import Any

import psycopg
from django.conf import settings
from django.db import transaction
from django.db.backends.postgresql import base
from psycopg.pq import ExecStatus, TransactionStatus

from apps.core.db import tenancy
from apps.core.db.postgresql.prepared import KeptStatements, PreparedCursor
from apps.core.db.tenancy import NOBODY, SETTINGS, Scope

# Who serves people signs in as it.
WEB = "tillgate_web"
_TELL = f"SELECT {', '.join(f'set_config({name!r}, {{}}, {{}})' for name in SETTINGS)}"


class DatabaseWrapper(base.DatabaseWrapper):
    """Knows which scope the server has from this connection, and tells it the one that is wanted
    with the next statement."""

    # None when it isn't known: a rollback takes back what was set in its transaction.
    _server_scope: Scope | None = NOBODY
    _tells_itself = False
    # Of the statements that stay, on this connection.
    _kept_cursors: dict[object, PreparedCursor]
    # What the session has set itself to; empty while it is who has signed in.
    role = ""

    @property
    def is_web(self) -> bool:
        """Tells whether it acts as the role of the web process."""
        return (self.role or self.settings_dict["USER"]) == WEB

    def is_usable(self) -> bool:
        if self.connection is None or self.connection.closed:
            return False
        poll = select.poll()
        poll.register(self.connection.fileno(), select.POLLIN)
        return not poll.poll(0) or bool(super().is_usable())

    def get_new_connection(self, conn_params: dict[str, Any]) -> Any:  # as Django declares it
        self._server_scope = NOBODY
        if self._in_scope not in self.execute_wrappers:
            self.execute_wrappers.insert(0, self._in_scope)
        connection = super().get_new_connection(conn_params)
        KeptStatements.of(connection)
        self._kept_cursors = {}
        return connection

    def kept_cursor(self, statement: object) -> PreparedCursor:
        """The cursor that a statement has on this connection. Anyone else's rows in it are gone
        with the next use: read them before."""
        cursor = self._kept_cursors.get(statement)
        if cursor is None:
            cursor = self._kept_cursors[statement] = PreparedCursor(self.connection)
        return cursor

    def begin_telling(self) -> None:
        """Until `end_telling` a statement reads no owned row in a scope, and sets one, which
        `record_scope` says."""
        self._tells_itself = True
        self._server_scope = None

    def end_telling(self) -> None:
        self._tells_itself = False

    def record_scope(self, scope: Scope) -> None:
        """The last statement set this scope. Behind a pooler it was the transaction's alone."""
        self._server_scope = None if settings.DATABASE_POOLER else scope

    def has_to_tell(self) -> bool:
        """True if the next statement takes a scope with it, which only texts with their values in
        them can."""
        scope = tenancy.current()
        return not (
            self._server_scope is scope or self._server_scope == scope or self._tells_itself
        )

    def _in_scope(
        self,
        execute: Callable[..., Any],
        sql: Any,
        params: Any,
        many: bool,
        context: Mapping[str, Any],
    ) -> Any:
        """Every statement of Django's cursors and of core.sql comes through here."""
        if not self.has_to_tell():
            return execute(sql, params, many, context)
        cursor = context["cursor"].cursor
        is_text = not many and isinstance(sql, str) and isinstance(cursor, psycopg.ClientCursor)
        is_alone = settings.DATABASE_POOLER and not self.in_atomic_block
        if is_alone and not is_text:
            # The next statement may have another server's connection: this one takes its scope with
            # it.
            with transaction.atomic(using=self.alias):
                return self._in_scope(execute, sql, params, many, context)
        self.validate_no_broken_transaction()
        scope = tenancy.current()
        tell = self._telling(scope)
        self._server_scope = None
        if not is_text:
            with self.wrap_database_errors:
                self.connection.execute(tell)
            answer = execute(sql, params, many, context)
        else:
            # One text of two statements, so one round trip, and one transaction where none is open:
            # if it fails, nothing was set.
            answer = execute(
                f"{tell if params is None else tell.replace('%', '%%')}; {sql}",
                params,
                many,
                context,
            )
            cursor.nextset()
        self._server_scope = None if is_alone else scope
        return answer

    def _telling(self, scope: Scope) -> str:
        """The statement that sets a scope, its values in it."""
        is_local = "true" if settings.DATABASE_POOLER else "false"
        return _TELL.format(
            *(
                part
                for value in scope.settings()
                for part in (psycopg.sql.quote(value, self.connection), is_local)
            )
        )

    def _commit(self) -> Any:
        try:
            return super()._commit()  # type: ignore[misc]  # the stubs leave it out
        finally:
            if settings.DATABASE_POOLER:
                self._server_scope = None

    def _rollback(self) -> Any:
        try:
            return super()._rollback()  # type: ignore[misc]  # the stubs leave it out
        finally:
            self._server_scope = None

    def _savepoint(self, sid: str) -> None:
        if not self._is_marked(self.ops.savepoint_create_sql(sid)):
            super()._savepoint(sid)  # type: ignore[misc]  # the stubs leave it out

    def _savepoint_commit(self, sid: str) -> None:
        if not self._is_marked(self.ops.savepoint_commit_sql(sid)):
            super()._savepoint_commit(sid)  # type: ignore[misc]  # the stubs leave it out

    def _is_marked(self, statement: str) -> bool:
        """True if a statement that marks a place in the transaction went to the server by itself.
        It reads nothing and answers nothing, so it needs no scope, and a cursor takes four times as
        long; anyone who looks at statements is shown it by the cursor."""
        driver = self.connection
        if driver is None or self.queries_logged or len(self.execute_wrappers) > 1:
            return False
        if driver.info.transaction_status != TransactionStatus.INTRANS:
            return False
        with driver.lock:
            answer = driver.pgconn.exec_(statement.encode())
        return bool(answer.status == ExecStatus.COMMAND_OK)

    def _savepoint_rollback(self, sid: str) -> None:
        self.begin_telling()  # what is aborted takes no statement before this one
        try:
            super()._savepoint_rollback(sid)  # type: ignore[misc]  # the stubs leave it out
        finally:
            self.end_telling()
