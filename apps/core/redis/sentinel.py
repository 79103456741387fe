"""Connections to the Redis that the sentinels call master. Loaded only where REDIS_URL names
sentinels.

A connection that is lost asks for the master again, so a failover is followed without a restart;
until a new one is named, Redis counts as unreachable.
"""

from typing import Any

from redis.backoff import NoBackoff
from redis.retry import Retry
from redis.sentinel import Sentinel, SentinelConnectionPool

from apps.core.redis.address import SentinelAddress, parse_sentinel

TIMEOUT_SECONDS = 0.5


class SentinelPool(SentinelConnectionPool):
    """A pool with the constructor that redis, Django's cache and the limiter expect."""

    @classmethod
    def from_url(cls, url: str, **options: Any) -> "SentinelPool":
        address = parse_sentinel(url)
        manager = Sentinel(list(address.hosts), sentinel_kwargs=sentinel_options(address))
        timeouts = {"socket_timeout": TIMEOUT_SECONDS, "socket_connect_timeout": TIMEOUT_SECONDS}
        return cls(
            address.master_name,
            manager,
            db=address.database,
            username=address.username or None,
            password=address.password or None,
            **{**timeouts, **options},
        )


def sentinel_options(address: SentinelAddress) -> dict[str, object]:
    """Options of a question to a sentinel: asked once, because the next one knows as well."""
    return {
        "password": address.sentinel_password or None,
        "socket_timeout": TIMEOUT_SECONDS,
        "socket_connect_timeout": TIMEOUT_SECONDS,
        "retry": Retry(NoBackoff(), 0),
    }
