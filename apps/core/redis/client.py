"""Redis' client, and the pool for an address of ours."""

from typing import TYPE_CHECKING, Any

import redis

from apps.core.redis.address import SENTINEL_POOL, is_by_sentinel

if TYPE_CHECKING:
    from redis import ConnectionPool

__all__ = ["pool_class", "pool_of", "redis"]


def pool_class(url: str) -> str:
    """The class of the pool for this address, by its path."""
    return SENTINEL_POOL if is_by_sentinel(url) else "redis.ConnectionPool"


def pool_of(url: str, **options: Any) -> "ConnectionPool":
    if not is_by_sentinel(url):
        return redis.ConnectionPool.from_url(url, **options)
    from apps.core.redis.sentinel import SentinelPool

    return SentinelPool.from_url(url, **options)
