"""Rows that the tests of a module begin from, made once: in a transaction around them, and each
test is rolled back to it."""

import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any, Generic, TypeVar

from django.db import Error, connection, transaction

from apps.core import acting
from apps.core.db import tenancy
from apps.core.redis import buckets
from tests.cast import Cast, assemble

T = TypeVar("T")


KEPT = b":1:"  # how the keys of Django's cache begin


def empty_buckets() -> None:
    """As if nobody had called. What pages keep for a minute stays."""
    redis = buckets.client()
    keys = [key for key in redis.scan_iter(count=1000) if not key.startswith(KEPT)]
    if keys:
        redis.delete(*keys)


class Stage(Generic[T]):
    """Rows that stay until they are cleared away."""

    def __init__(self, blocker: Any, make: Callable[[], T]) -> None:
        self._blocker = blocker
        self._around = transaction.atomic()
        with self._blocker.unblock():
            self._around.__enter__()
            try:
                with acting.acting(acting.Actor()), tenancy.within(tenancy.NOBODY):
                    self.made = make()
                connection.check_constraints()  # else each test would check again what was made
                buckets.client().flushdb()
            except BaseException:
                self._around.__exit__(*sys.exc_info())
                raise

    def stands(self) -> bool:
        """A test that lost the connection took with it what stood."""
        server = connection.connection
        return bool(server and not server.closed and not connection.closed_in_transaction)

    def clear(self) -> None:
        with self._blocker.unblock(), suppress(Error):  # the connection may be lost
            transaction.set_rollback(True)
            self._around.__exit__(None, None, None)


_casts: list[Stage[Cast]] = []


def cast_of_module(blocker: Any) -> Cast:
    """The cast, with rows of its own, for a test that rolls back and begins now."""
    if _casts and not _casts[0].stands():
        clear_cast()
    if not _casts:
        if connection.in_atomic_block:  # the test has begun, or its module stands on something else
            with blocker.unblock():
                return assemble()
        _casts.append(Stage(blocker, assemble))
    return _casts[0].made.copy()


def clear_cast() -> None:
    """For who doesn't begin from it: nobody is there."""
    while _casts:
        _casts.pop().clear()


def standing(blocker: Any, make: Callable[[], T]) -> Iterator[T]:
    """For a fixture with the scope of a module or class. What it yields belongs to all: a test
    changes rows, not this."""
    clear_cast()
    stage = Stage(blocker, make)
    yield stage.made
    stage.clear()
