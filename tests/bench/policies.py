"""Cost of row-level security: calls with it and without it, in turns, each on a connection of its
own.

With it a call comes in as the web's role and is looked up by a function that sets its scope.
Without it the role is the owner's, for whom no policy holds, and the look-up is the plain join that
it was before there were any.
"""

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from apps.access import services
from apps.audit.grants import WEB
from apps.core.db.sql import Narrowing

_with_policies = services._look_up_sql
_here = threading.local()


class _Plain(Narrowing):
    """The look-up without a scope."""

    def rows(self, **values: Any) -> list[tuple[Any, ...]]:
        return super(Narrowing, self).rows(**values)

    @staticmethod
    def narrow(store: Any, mode: str) -> None:
        pass


def _look_up_sql(model: Any) -> Any:
    return _with_policies(model) if _here.has_policies else _here.plain


def _plain(model: Any) -> Any:
    """The statement, with the credential's table in place of the function and no scope set."""
    _, fields, store_fields = _with_policies(model)
    text = services._look_up_text(model)
    where = ("WHERE k.revoked_at", "WHERE k.secret_hash = %(digest)s AND k.revoked_at")
    for new, old in ((Narrowing.COLUMN, "''"), ('_by_hash"(%(digest)s) k', '" k'), where):
        assert new in text
        text = text.replace(new, old)
    return _Plain(text), fields, store_fields


def _begin(has_policies: bool) -> None:
    from django.db import connection

    from apps.access.models import ApiKey

    connection.ensure_connection()
    _here.has_policies = has_policies
    if has_policies:
        connection.cursor().execute(f"SET ROLE {WEB}")
    else:
        _here.plain = _plain(ApiKey)
        connection.execute_wrappers.clear()


def _end() -> None:
    from django.db import connection

    connection.close()


class Sides:
    """Two threads, each with its connection: `measure` calls in both in turns."""

    def __enter__(self) -> "Sides":
        services._look_up_sql = _look_up_sql  # type: ignore[assignment]
        self.pools = [ThreadPoolExecutor(1), ThreadPoolExecutor(1)]
        for pool, has_policies in zip(self.pools, (True, False), strict=True):
            pool.submit(_begin, has_policies).result()
        return self

    def measure(self, measure: Callable[[], float], times: int) -> tuple[list[float], list[float]]:
        """(with, without), in milliseconds."""
        rows = [
            [pool.submit(measure).result() for pool in self.pools[:: 1 if n % 2 else -1]][
                :: 1 if n % 2 else -1
            ]
            for n in range(times)
        ]
        return [row for row, _ in rows], [two for _, two in rows]

    def __exit__(self, *_: object) -> None:
        for pool in self.pools:
            pool.submit(_end).result()
            pool.shutdown()
        services._look_up_sql = _with_policies
