"""A Redis that is found by sentinels: when its master is killed, limits go on with the next one.

So do jobs: tests/console/test_exporters.py has processes that run some.
"""

import subprocess
from collections.abc import Iterator
from typing import Any

import pytest
from django.core.cache import caches

from apps.core import jobs
from apps.core.redis import address as redis_address
from apps.core.redis import buckets
from apps.core.redis.address import parse_sentinel
from config.broker import broker_of
from tests.sentinels import Sentinels
from tests.stack import wait_for

FAILOVER_SECONDS = 30.0


@pytest.fixture
def sentinels() -> Iterator[Sentinels]:
    running = Sentinels()
    yield running
    running.close()


class OnePort(Sentinels):
    """Its replica is to listen where its master does."""

    def _server(self, port: int, *more: str) -> "subprocess.Popen[bytes]":
        return super()._server(self.master_port, *more)


def test_a_redis_that_ends_at_once_is_told_with_its_log_instead_of_waited_for() -> None:
    with pytest.raises(AssertionError, match="Address already in use"):
        OnePort()


@pytest.fixture
def by_sentinel(sentinels: Sentinels, settings: Any) -> Iterator[Sentinels]:
    settings.REDIS_URL = sentinels.url
    cached = (buckets.client, buckets._bucket)
    for found in cached:
        found.cache_clear()
    yield sentinels
    for found in cached:
        found.cache_clear()


def test_an_address_names_sentinels_master_and_passwords() -> None:
    url = "redis+sentinel://me:p%40ss@a,b:1,[::1]:2/main/3?sentinel_password=other"
    address = parse_sentinel(redis_address.canonical(url))
    assert address.hosts == (("a", 26379), ("b", 1), ("::1", 2))
    assert (address.master_name, address.database) == ("main", 3)
    assert (address.username, address.password) == ("me", "p@ss")
    assert address.sentinel_password == "other"


def test_the_broker_is_told_the_same_in_its_own_words() -> None:
    url = "sentinel://:p%40ss@a:1,[::1]:2/main/3?sentinel_password=other"
    broker = broker_of(url)
    assert broker.url == "sentinel://:p%40ss@a:1/3;sentinel://:p%40ss@[::1]:2/3"
    assert broker.options["master_name"] == "main"
    assert "'password': 'other'" in str(broker.options["sentinel_kwargs"])
    plain = broker_of("unix:///run/redis.sock")
    assert plain.url == "redis+socket:///run/redis.sock"
    assert "master_name" not in plain.options


def _is_limited() -> bool | None:
    """None without Redis."""
    try:
        return buckets.take("sign_in", "live", "alice").is_limited
    except buckets.Unavailable:
        return None


def _cached(cache: Any, value: int) -> int | None:
    try:
        cache.set("sentinel", value, 60)
        found: int = cache.get("sentinel")
    except buckets.unreachable():
        return None
    return found


def test_limits_and_the_cache_follow_a_failover(by_sentinel: Sentinels, settings: Any) -> None:
    pool = {"pool_class": redis_address.SENTINEL_POOL}
    place = {"LOCATION": [by_sentinel.url], "OPTIONS": pool}
    settings.CACHES = {"default": {**settings.CACHES["default"], **place}}
    assert _is_limited() is False
    assert _cached(caches["default"], 1) == 1
    by_sentinel.kill_sentinel()
    by_sentinel.kill_master()
    wait_for(_is_limited, lambda limited: limited is not None, FAILOVER_SECONDS)
    assert (
        wait_for(
            lambda: _cached(caches["default"], 2), lambda value: value is not None, FAILOVER_SECONDS
        )
        == 2
    )
    jobs.nudge("core.heartbeat")
    assert buckets.client().llen("celery") == 1
