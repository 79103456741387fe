"""Celery's connection to Redis: kombu has forms of its own for a Unix socket and for sentinels."""

from typing import NamedTuple
from urllib.parse import quote

from kombu.transport import TRANSPORT_ALIASES

from apps.core.redis.address import SentinelAddress, is_by_sentinel, parse_sentinel

# Loaded when somebody connects.
TRANSPORT_ALIASES.update(
    redis="config.channels:Transport", sentinel="config.channels:SentinelTransport"
)
_OPTIONS: dict[str, object] = {
    "visibility_timeout": 900,
    "socket_connect_timeout": 1,
    "socket_timeout": 10,
    "max_retries": 1,
}


class Broker(NamedTuple):
    """`broker_url` and `broker_transport_options`."""

    url: str
    options: dict[str, object]


def broker_of(url: str) -> Broker:
    if not is_by_sentinel(url):
        unix = (url or "redis://").replace("unix://", "redis+socket://", 1)
        return Broker(unix, _OPTIONS)
    from apps.core.redis.sentinel import sentinel_options

    address = parse_sentinel(url)
    options = {
        **_OPTIONS,
        "master_name": address.master_name,
        "sentinel_kwargs": sentinel_options(address),
    }
    urls = ";".join(_sentinel_url(address, host, port) for host, port in address.hosts)
    return Broker(urls, options)


def _sentinel_url(address: SentinelAddress, host: str, port: int) -> str:
    """A sentinel, with the master's credentials."""
    credentials = f"{quote(address.username, safe='')}:{quote(address.password, safe='')}@"
    shown_host = f"[{host}]" if ":" in host else host
    is_open = credentials == ":@"
    return f"sentinel://{'' if is_open else credentials}{shown_host}:{port}/{address.database}"
