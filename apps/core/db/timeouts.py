"""Timeouts of statements that need longer than their role's settings allow
(apps.audit.role_settings)."""

from collections.abc import Iterator
from contextlib import contextmanager

from django.db import connection, transaction

LONG_SECONDS = 1800  # as long as a report may take


@contextmanager
def long_statements(seconds: int = LONG_SECONDS) -> Iterator[None]:
    """A transaction whose statements may each take so long; 0 is as long as they like."""
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("SELECT set_config('statement_timeout', %s, true)", [f"{seconds}s"])
        yield
