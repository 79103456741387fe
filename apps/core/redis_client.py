"""Redis' client without the kinds of it that nobody here uses: asynchronous ones, clusters,
sentinels, and measurements of its own. Together they are as large as what is used.

Whoever imports `redis` imports this first.
"""

from typing import TYPE_CHECKING, Any

from apps.core.imports import postponed, without
from apps.core.redis_address import SENTINEL_POOL, is_by_sentinel

if TYPE_CHECKING:
    from redis import ConnectionPool

_OTHER_KINDS = (
    "redis.asyncio",
    "redis.asyncio.observability",
    "redis.asyncio.observability.recorder",
    "redis.cluster",
    "redis.keyspace_notifications",
    "redis.sentinel",
)

with without("cryptography", "opentelemetry"), postponed(*_OTHER_KINDS):
    import redis

__all__ = ["pool_class", "pool_of", "redis"]


def pool_class(url: str) -> str:
    """The class of the pool for this address, by its path."""
    return SENTINEL_POOL if is_by_sentinel(url) else "redis.ConnectionPool"


def pool_of(url: str, **options: Any) -> "ConnectionPool":
    if not is_by_sentinel(url):
        return redis.ConnectionPool.from_url(url, **options)
    from apps.core.redis_sentinel import SentinelPool

    return SentinelPool.from_url(url, **options)
