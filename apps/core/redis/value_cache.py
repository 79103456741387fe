"""Values that may be computed anew at any time, cached in Redis for a while. Without Redis nothing
is kept, and nothing fails."""

import contextlib

from django.core.cache import cache

from apps.core.redis.buckets import unreachable


def get(key: str) -> object:
    """The cached value; None without it."""
    with contextlib.suppress(*unreachable()):
        value: object = cache.get(key)
        return value
    return None


def put(key: str, value: object, seconds: int) -> None:
    with contextlib.suppress(*unreachable()):
        cache.set(key, value, seconds)


def forget(key: str) -> None:
    with contextlib.suppress(*unreachable()):
        cache.delete(key)
