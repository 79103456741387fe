"""What the tests of a module begin from, made once: it stands in a transaction around them, and
each is rolled back to it."""

import sys
from collections.abc import Callable, Iterator
from typing import Any, TypeVar

from django.db import connection, transaction

from apps.core import acting, buckets
from apps.core.db import tenancy

T = TypeVar("T")


KEPT = b":1:"  # how the keys of Django's cache begin


def empty_buckets() -> None:
    """As if nobody had called. What pages keep for a minute stays."""
    redis = buckets.client()
    keys = [key for key in redis.scan_iter(count=1000) if not key.startswith(KEPT)]
    if keys:
        redis.delete(*keys)


def standing(blocker: Any, make: Callable[[], T]) -> Iterator[T]:
    """For a fixture with the scope of a module or class. What it yields belongs to all: a test
    changes rows, not this."""
    around = transaction.atomic()
    with blocker.unblock():
        around.__enter__()
        try:
            with acting.acting(acting.Actor()), tenancy.within(tenancy.NOBODY):
                made = make()
            connection.check_constraints()  # else each test would check again what was made here
            buckets.client().flushdb()
        except BaseException:
            around.__exit__(*sys.exc_info())
            raise
    yield made
    with blocker.unblock():
        transaction.set_rollback(True)
        around.__exit__(None, None, None)
