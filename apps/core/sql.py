"""A cursor for statements that run on every request: bound by the server and prepared, so PostgreSQL plans each once per connection.

Django's own cursor puts parameters into the text, and PostgreSQL would parse and plan it anew each time (measured: half of a
payment's database time). Placeholders whose type the server can't infer need a cast.
"""

from collections.abc import Iterator
from contextlib import contextmanager

import psycopg
from django.db import connection
from django.db.backends.utils import CursorWrapper


@contextmanager
def prepared() -> Iterator[CursorWrapper]:
    """The default connection's cursor for a hot statement; errors are Django's, as from `connection.cursor()`."""
    connection.close_if_health_check_failed()
    connection.ensure_connection()
    cursor = psycopg.Cursor(connection.connection)
    wrap = connection.make_debug_cursor if connection.queries_logged else connection.make_cursor
    with wrap(cursor) as wrapped:  # type: ignore[arg-type]  # the stubs know the wrapper alone
        yield wrapped
