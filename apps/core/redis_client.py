"""Redis' client without the kinds of it that nobody here uses: asynchronous ones, clusters,
sentinels, and measurements of its own. Together they are as large as what is used.

Whoever imports `redis` imports this first.
"""

from apps.core.imports import postponed, without

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

__all__ = ["redis"]
