"""Token buckets in Redis (settings.LIMITS) and the counter of failed authentications.

A bucket is kept as the moment at which it will be full (GCRA), to the microsecond of Redis' clock:
it fills without steps. When Redis can't be reached payment traffic passes (and is logged) and
sign-in attempts are refused.
"""

import math
import time
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

import structlog
from django.conf import settings

if TYPE_CHECKING:
    import redis
    from throttled import Throttled

log = structlog.get_logger(__name__)
_TIMEOUT_SECONDS = 0.5
# Who needn't ask a Redis that was away passes for so long without asking.
_AWAY_SECONDS = 1.0


class Unavailable(Exception):
    """Redis can't be reached."""


@dataclass(frozen=True)
class Allowance:
    """Rest of a bucket after taking one token. `reset_seconds` is until it is full again."""

    policy: str
    is_limited: bool
    per_minute: int
    burst: int
    remaining: int
    reset_seconds: int
    retry_after_seconds: int

    def headers(self) -> dict[str, str]:
        head = {
            "X-RateLimit-Limit": str(self.burst),
            "X-RateLimit-Remaining": str(self.remaining),
            "X-RateLimit-Reset": str(self.reset_seconds),
            "RateLimit": f'"{self.policy}";r={self.remaining};t={self.reset_seconds}',
            "RateLimit-Policy": f'"{self.policy}";q={self.per_minute};w=60',
        }
        return {**head, "Retry-After": str(self.retry_after_seconds)} if self.is_limited else head


# Redis' client is a tenth of what a command costs to start, and most commands never ask it.


@cache
def unreachable() -> tuple[type[Exception], ...]:
    """Exceptions that mean that Redis is unreachable."""
    from throttled.exceptions import BaseThrottledError

    from apps.core.redis.client import redis

    return (redis.RedisError, OSError, BaseThrottledError)


@cache
def client() -> "redis.Redis":
    """The process's Redis connection pool."""
    from apps.core.redis.client import pool_of, redis

    timeouts = {
        "socket_timeout": _TIMEOUT_SECONDS,
        "socket_connect_timeout": _TIMEOUT_SECONDS,
    }
    return redis.Redis(connection_pool=pool_of(settings.REDIS_URL, **timeouts))


@cache
def _bucket(policy: str, mode: str) -> "Throttled":
    from throttled import RateLimiterType, Throttled, per_min, store

    from apps.core.redis import client as redis_client

    per_minute, burst = settings.LIMITS[policy][mode]
    options = {
        "SOCKET_TIMEOUT": _TIMEOUT_SECONDS,
        "SOCKET_CONNECT_TIMEOUT": _TIMEOUT_SECONDS,
        "CONNECTION_POOL_CLASS": redis_client.pool_class(settings.REDIS_URL),
    }
    return Throttled(
        using=RateLimiterType.GCRA.value,
        quota=per_min(per_minute, burst=burst),
        store=store.RedisStore(server=settings.REDIS_URL, options=options),
    )


class _Absence:
    """Until when a Redis that was away is taken to be so, in this process."""

    until = -math.inf

    def is_over(self) -> bool:
        return time.monotonic() >= self.until

    def note(self) -> None:
        self.until = time.monotonic() + _AWAY_SECONDS


_absence = _Absence()


def take(policy: str, mode: str, holder: str, cost: int = 1, *, waits: bool = True) -> Allowance:
    """Take `cost` tokens from `holder`'s bucket of a policy, in one atomic step.

    What costs more than a full bucket takes all of one. Raises Unavailable without Redis, and where
    nobody `waits` for one that has just been away.
    """
    if not waits and not _absence.is_over():
        raise Unavailable
    per_minute, burst = settings.LIMITS[policy][mode]
    try:
        result = _bucket(policy, mode).limit(f"{policy}:{mode}:{holder}", cost=min(cost, burst))
    except unreachable() as error:
        log.warning("rate_limit_unavailable", policy=policy, error=type(error).__name__)
        _absence.note()
        raise Unavailable from error
    state = result.state
    return Allowance(
        policy=policy,
        is_limited=result.limited,
        per_minute=per_minute,
        burst=burst,
        remaining=max(0, int(state.remaining)),
        reset_seconds=max(0, math.ceil(state.reset_after)),
        retry_after_seconds=max(1, math.ceil(state.retry_after)),
    )


def count_failure(holder: str) -> int | None:
    """Count a failed authentication; the seconds to wait when there were too many in this window,
    else None."""
    key = f"failed_authentication:{holder}"
    try:
        with client().pipeline() as pipe:
            pipe.set(key, 0, ex=settings.FAILED_AUTHENTICATIONS_WINDOW_SECONDS, nx=True)
            pipe.incr(key)
            pipe.ttl(key)
            _, count, seconds = pipe.execute()
    except unreachable() as error:
        log.warning(
            "rate_limit_unavailable", policy="failed_authentication", error=type(error).__name__
        )
        return None
    return max(1, int(seconds)) if int(count) > settings.FAILED_AUTHENTICATIONS_MAX else None
