"""Form of REDIS_URL with sentinels, who name the present master:
`sentinel://:password@host:26379,host:26379/name/0`. Nothing connects here."""

from dataclasses import dataclass
from urllib.parse import parse_qs, unquote

SENTINEL_PORT = 26379
SENTINEL_POOL = "apps.core.redis.sentinel.SentinelPool"
_SCHEME = "sentinel"
_FORM = "sentinel://:password@host:26379,host:26379/name"


@dataclass(frozen=True)
class SentinelAddress:
    """Addresses of the sentinels, their name of the master, and its credentials."""

    hosts: tuple[tuple[str, int], ...]
    master_name: str
    database: int
    username: str
    password: str
    sentinel_password: str


def is_by_sentinel(url: str) -> bool:
    return url.startswith(f"{_SCHEME}://")


def canonical(url: str) -> str:
    """With the name that we have for the scheme: others call it redis+sentinel."""
    return url.removeprefix("redis+") if url.startswith(f"redis+{_SCHEME}://") else url


def parse_sentinel(url: str) -> SentinelAddress:
    """ValueError says what is wrong with it, without a password."""
    # Not by urlsplit, which takes a list of hosts for one host with wrong brackets.
    place, _, query = url.removeprefix(f"{_SCHEME}://").partition("?")
    servers, _, path = place.partition("/")
    credentials, _, hosts = servers.rpartition("@")
    username, _, password = credentials.partition(":")
    master_name, _, database = path.strip("/").partition("/")
    if not master_name:
        raise ValueError(f"REDIS_URL doesn't name the master: {_FORM}")
    if not (database or "0").isdecimal():
        raise ValueError(f"REDIS_URL ends with {database!r}, which is no number of a database")
    options = parse_qs(query, keep_blank_values=True)
    if unknown := sorted(options.keys() - {"sentinel_password"}):
        raise ValueError(f"REDIS_URL has {', '.join(unknown)}, and only sentinel_password is known")
    return SentinelAddress(
        hosts=tuple(_host(text) for text in hosts.split(",")),
        master_name=unquote(master_name),
        database=int(database or 0),
        username=unquote(username),
        password=unquote(password),
        sentinel_password=options.get("sentinel_password", [""])[0],
    )


def _host(text: str) -> tuple[str, int]:
    """A host of the list: name or address, IPv6 in brackets, and its port."""
    host, colon, port = text.rpartition(":")
    if not colon or text.endswith("]"):
        host, port = text, str(SENTINEL_PORT)
    if not host or not port.isdecimal() or not 0 < int(port) < 65536:
        raise ValueError(f"REDIS_URL has the sentinel {text!r}, which is no host with a port")
    return host.strip("[]"), int(port)
