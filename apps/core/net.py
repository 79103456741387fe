"""Outbound HTTP. `post` goes to addresses that strangers chose: only public ones, pinned to the address that was checked.

`get_json` and `post_json` ask addresses that the operator configured. Neither follows redirects, keeps cookies, asks a proxy or inflates an
answer; both read a bounded answer within a total deadline.
"""

import asyncio
import ipaddress
import json
import socket
import ssl
import time
from collections.abc import Awaitable, Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from concurrent.futures import TimeoutError as FutureTimeout
from dataclasses import dataclass
from decimal import Decimal
from typing import Any
from urllib.parse import urlsplit

import aiohttp
import orjson
import requests
from aiohttp.abc import AbstractResolver, ResolveResult
from django.conf import settings
from yarl import URL

from apps.core.errors import ProviderError
from apps.core.literal import is_deeper

CONNECT_SECONDS = 5.0
ANSWER_SECONDS = 30.0
ANSWER_BYTES_MAX = 64 * 1024
PROVIDER_DEPTH_MAX = 64
PROVIDER_BYTES_MAX = 4 * 1024 * 1024
RESOLVE_SECONDS = 3.0

_V4_REFUSED = [ipaddress.IPv4Network(one) for one in ("192.0.0.0/24", "192.88.99.0/24", "224.0.0.0/4", "240.0.0.0/4")]
_V6_UNICAST = ipaddress.IPv6Network("2000::/3")
_V6_REFUSED = [ipaddress.IPv6Network(one) for one in ("2001::/23", "2002::/16", "2001:db8::/32", "3fff::/20")]

Lookup = Callable[[str, int], Awaitable[list[str]]]
Session = aiohttp.ClientSession


class PrivateAddress(Exception):
    """The host has an address that isn't public; nothing was sent."""


class Unresolvable(Exception):
    """The host has no address, or none in time."""


class NoAnswer(Exception):
    """The receiver gave no whole HTTP answer; the text is one short word for the record."""


@dataclass(frozen=True)
class Answer:
    status: int
    body: bytes


# --- which addresses are public -------------------------------------------------------------------


def is_public(address: str) -> bool:
    """Whether a packet to this IP address leaves for the public internet; a name or a scoped address is not."""
    try:
        ip = ipaddress.ip_address(address)
    except ValueError:
        return False
    if isinstance(ip, ipaddress.IPv6Address):
        if ip.ipv4_mapped is not None:
            return is_public(str(ip.ipv4_mapped))
        return ip.scope_id is None and ip in _V6_UNICAST and not any(ip in network for network in _V6_REFUSED)
    return ip.is_global and not any(ip in network for network in _V4_REFUSED)


def is_excused(host: str) -> bool:
    """Whether the operator lets this host (a name or an address) be private."""
    return _plain(host) in {_plain(one) for one in settings.WEBHOOK_ALLOW_HOSTS}


def _plain(host: str) -> str:
    return host.lower().rstrip(".").strip("[]")


def check_host(host: str, addresses: list[str]) -> None:
    """Raise PrivateAddress unless every one of the host's addresses is public, and the host isn't this service."""
    if is_excused(host):
        return
    ours = {_plain(one) for one in (urlsplit(settings.PUBLIC_URL).hostname or "", *settings.OWN_HOSTS)}
    if _plain(host) in ours or not all(is_public(one) for one in addresses):
        raise PrivateAddress(host)


def check_url_host(host: str, port: int) -> None:
    """Resolve now and raise PrivateAddress or Unresolvable; for forms that take an address."""
    try:
        found = _lookups.submit(socket.getaddrinfo, _plain(host), port, type=socket.SOCK_STREAM).result(RESOLVE_SECONDS)
    except (OSError, UnicodeError, FutureTimeout):
        raise Unresolvable(host) from None
    check_host(host, [str(one[4][0]) for one in found])


_lookups = ThreadPoolExecutor(max_workers=8, thread_name_prefix="lookup")


# --- posting to strangers -------------------------------------------------------------------------


async def system_lookup(host: str, port: int) -> list[str]:
    """Every address that the system's resolver has for a name."""
    found = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(one[4][0]) for one in found))


class PublicResolver(AbstractResolver):
    """Hands the connector only addresses that have been checked, so that what is checked is what is connected to."""

    def __init__(self, lookup: Lookup) -> None:
        self._lookup = lookup

    async def resolve(self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_UNSPEC) -> list[ResolveResult]:
        addresses = await self._lookup(host, port)
        check_host(host, addresses)
        return [
            ResolveResult(
                hostname=host,
                host=address,
                port=port,
                family=socket.AF_INET6 if ":" in address else socket.AF_INET,
                proto=socket.IPPROTO_TCP,
                flags=socket.AI_NUMERICHOST,
            )
            for address in addresses
        ]

    async def close(self) -> None:
        return None


def open_session(lookup: Lookup = system_lookup, context: ssl.SSLContext | None = None) -> Session:
    """A session for `post`; made inside the running loop. The caller limits how many are in flight."""
    connector = aiohttp.TCPConnector(
        limit=0, resolver=PublicResolver(lookup), ttl_dns_cache=10, keepalive_timeout=15, ssl=context or True, happy_eyeballs_delay=None
    )
    return Session(
        connector=connector,
        cookie_jar=aiohttp.DummyCookieJar(),
        auto_decompress=False,
        trust_env=False,
        skip_auto_headers=("Accept", "Accept-Encoding", "User-Agent"),
        timeout=aiohttp.ClientTimeout(total=CONNECT_SECONDS + ANSWER_SECONDS, connect=CONNECT_SECONDS),
    )


async def post(session: Session, url: str, body: bytes, headers: Mapping[str, str]) -> Answer:
    """The answer, whatever its status; its body is cut at 64 KiB. Raises PrivateAddress or NoAnswer."""
    try:
        target = URL(url, encoded=True)  # read once: what is checked here is what the session connects to
    except ValueError:
        raise NoAnswer("invalid_url") from None
    host = target.raw_host or ""
    if _is_literal(host):
        check_host(host, [host])
    try:
        async with session.post(target, data=body, headers=headers, allow_redirects=False) as response:
            return Answer(response.status, await _bounded(response))
    except TimeoutError as error:
        raise NoAnswer("connect_timeout" if isinstance(error, aiohttp.ConnectionTimeoutError) else "timeout") from None
    except aiohttp.ClientConnectorCertificateError:
        raise NoAnswer("certificate_invalid") from None
    except aiohttp.ClientSSLError:
        raise NoAnswer("tls_failed") from None
    except aiohttp.ClientConnectorDNSError:
        raise NoAnswer("name_not_resolved") from None
    except aiohttp.ClientConnectorError:
        raise NoAnswer("connection_refused") from None
    except (aiohttp.ServerDisconnectedError, aiohttp.ClientOSError):
        raise NoAnswer("connection_lost") from None
    except (aiohttp.ClientError, ValueError):
        raise NoAnswer("invalid_answer") from None


async def _bounded(response: aiohttp.ClientResponse) -> bytes:
    parts = bytearray()
    while len(parts) < ANSWER_BYTES_MAX:
        chunk = await response.content.read(ANSWER_BYTES_MAX - len(parts))
        if not chunk:
            return bytes(parts)
        parts += chunk
    response.close()
    return bytes(parts)


def _is_literal(host: str) -> bool:
    """Whether the connector takes the host for an address and asks no resolver about it; short spellings are not valid ones."""
    return ":" in host or host.replace(".", "").isdigit()


# --- asking providers -----------------------------------------------------------------------------


def get_json(url: str, params: Mapping[str, str] | None = None, headers: Mapping[str, str] | None = None, timeout: float = 10.0) -> Any:
    """The JSON value at an address that the operator configured, fractions as Decimal; `timeout` bounds the call. Raises ProviderError."""
    return _asked("GET", url, params, None, headers or {}, timeout)


def post_json(url: str, body: Mapping[str, Any], headers: Mapping[str, str] | None = None, timeout: float = 10.0) -> Any:
    """The same for a POST of a JSON object; 201 and 202 are answers too."""
    return _asked("POST", url, None, orjson.dumps(body), {"Content-Type": "application/json", **(headers or {})}, timeout)


def _asked(method: str, url: str, params: Mapping[str, str] | None, body: bytes | None, headers: Mapping[str, str], timeout: float) -> Any:
    deadline = time.monotonic() + timeout
    asked = {"Accept": "application/json", "Accept-Encoding": "identity", "User-Agent": "Tillgate/1.0", **headers}
    limits = (min(CONNECT_SECONDS, timeout), timeout)
    try:
        with requests.Session() as session:
            session.trust_env = False
            with session.request(
                method, url, params=params, data=body, headers=asked, timeout=limits, allow_redirects=False, stream=True
            ) as response:
                raw = _within(response, deadline)
    except requests.RequestException as error:
        raise ProviderError(type(error).__name__) from None
    if response.status_code not in ((200,) if body is None else (200, 201, 202)):
        raise ProviderError(f"HTTP {response.status_code}", retry=response.status_code == 429 or response.status_code >= 500)
    if is_deeper(raw, PROVIDER_DEPTH_MAX):
        raise ProviderError("not JSON", retry=False)
    try:
        return json.loads(raw, parse_float=Decimal)
    except ValueError:
        raise ProviderError("not JSON") from None


def _within(response: requests.Response, deadline: float) -> bytes:
    parts = bytearray()
    while chunk := _some(response):
        parts += chunk
        if len(parts) > PROVIDER_BYTES_MAX:
            raise ProviderError("answer too large", retry=False)
        if time.monotonic() > deadline:
            raise ProviderError("answer took too long")
    return bytes(parts)


def _some(response: requests.Response) -> bytes:
    """What has arrived, without waiting for a full buffer: a dripping sender must not outlast the deadline."""
    try:
        chunk: bytes = response.raw.read1(65536)
    except Exception as error:
        raise ProviderError(type(error).__name__) from None
    return chunk
