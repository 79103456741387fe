"""Outbound HTTP to addresses that the operator configured, and which addresses are public
(apps.core.outbound.strangers goes to strangers' ones).

`get_json`, `get_bytes`, `post_json`, `post_xml` and `post_nothing` follow no redirects, keep no
cookies, ask no proxy and inflate no answer, which is bounded and within a deadline.
"""

import ipaddress
import json
import socket
import time
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from concurrent.futures import TimeoutError as FutureTimeout
from decimal import Decimal
from http import HTTPStatus
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import orjson
from django.conf import settings

from apps.core.errors import ErrorCode, ProviderError
from apps.core.messages.fields import is_deeper

if TYPE_CHECKING:
    import requests

CONNECT_SECONDS = 5.0
PROVIDER_DEPTH_MAX = 64
PROVIDER_BYTES_MAX = 4 * 1024 * 1024
RESOLVE_SECONDS = 3.0

_V4_REFUSED = [
    ipaddress.IPv4Network(block)
    for block in ("192.0.0.0/24", "192.88.99.0/24", "224.0.0.0/4", "240.0.0.0/4")
]
_V6_UNICAST = ipaddress.IPv6Network("2000::/3")
_V6_REFUSED = [
    ipaddress.IPv6Network(block)
    for block in ("2001::/23", "2002::/16", "2001:db8::/32", "3fff::/20")
]


class PrivateAddress(Exception):
    """The host has an address that isn't public; nothing was sent."""


class Unresolvable(Exception):
    """The host has no address, or none in time."""


class NotThere(ProviderError):
    """It answered that it has nothing at that address."""


# --- which addresses are public -------------------------------------------------------------------


def is_public(address: str) -> bool:
    """True if a packet to this IP address leaves for the public internet; a name or a scoped
    address is not."""
    try:
        ip = ipaddress.ip_address(address)
    except ValueError:
        return False
    if isinstance(ip, ipaddress.IPv6Address):
        if ip.ipv4_mapped is not None:
            return is_public(str(ip.ipv4_mapped))
        return (
            ip.scope_id is None
            and ip in _V6_UNICAST
            and not any(ip in network for network in _V6_REFUSED)
        )
    return ip.is_global and not any(ip in network for network in _V4_REFUSED)


def is_excused(host: str) -> bool:
    """True if the operator lets this host (a name or an address) be private."""
    return _plain(host) in {_plain(name) for name in settings.WEBHOOK_ALLOW_HOSTS}


def _plain(host: str) -> str:
    return host.lower().rstrip(".").strip("[]")


def check_host(host: str, addresses: list[str]) -> None:
    """Raise PrivateAddress unless every one of the host's addresses is public, and the host isn't
    this service."""
    if is_excused(host):
        return
    own_hosts = {
        _plain(name) for name in (urlsplit(settings.PUBLIC_URL).hostname or "", *settings.OWN_HOSTS)
    }
    if _plain(host) in own_hosts or not all(is_public(text) for text in addresses):
        raise PrivateAddress(host)


def check_url_host(host: str, port: int) -> None:
    """Resolve now and raise PrivateAddress or Unresolvable; for forms that take an address."""
    try:
        lookups = _lookups.submit(
            socket.getaddrinfo, _plain(host), port, type=socket.SOCK_STREAM
        ).result(RESOLVE_SECONDS)
    except (OSError, UnicodeError, FutureTimeout):
        raise Unresolvable(host) from None
    check_host(host, [str(entry[4][0]) for entry in lookups])


_lookups = ThreadPoolExecutor(max_workers=8, thread_name_prefix="lookup")


# --- asking providers -----------------------------------------------------------------------------


def get_json(
    url: str,
    params: Mapping[str, str] | None = None,
    headers: Mapping[str, str] | None = None,
    timeout: float = 10.0,
) -> Any:
    """The JSON value at an address that the operator configured, fractions as Decimal; `timeout`
    bounds the call. Raises ProviderError."""
    return _asked("GET", url, params, None, headers or {}, timeout)


def get_bytes(
    url: str, *, accept: str, headers: Mapping[str, str] | None = None, timeout: float = 10.0
) -> bytes:
    """The file at an address that the operator configured. Raises ProviderError."""
    return _sent("GET", url, None, None, {"Accept": accept, **(headers or {})}, timeout)


def post_json(
    url: str,
    body: Mapping[str, Any],
    headers: Mapping[str, str] | None = None,
    timeout: float = 10.0,
) -> Any:
    """POST of a JSON object; 201 and 202 are answers too."""
    return _asked(
        "POST",
        url,
        None,
        orjson.dumps(body),
        {"Content-Type": "application/json", **(headers or {})},
        timeout,
    )


def post_xml(
    url: str,
    body: bytes,
    params: Mapping[str, str],
    headers: Mapping[str, str],
    timeout: float,
) -> Any:
    """POST of an XML document; the JSON value of the answer."""
    return _asked(
        "POST", url, params, body, {"Content-Type": "application/xml", **headers}, timeout
    )


def post_nothing(url: str, headers: Mapping[str, str], timeout: float) -> None:
    """POST without a body, whose answer says nothing more than its status."""
    _sent("POST", url, None, b"", headers, timeout)


def _asked(
    method: str,
    url: str,
    params: Mapping[str, str] | None,
    body: bytes | None,
    headers: Mapping[str, str],
    timeout: float,
) -> Any:
    raw = _sent(method, url, params, body, headers, timeout)
    if is_deeper(raw, PROVIDER_DEPTH_MAX):
        raise ProviderError(ErrorCode.MALFORMED, "not JSON")
    try:
        return json.loads(raw, parse_float=Decimal)
    except ValueError:
        raise ProviderError(ErrorCode.MALFORMED, "not JSON") from None


def _sent(
    method: str,
    url: str,
    params: Mapping[str, str] | None,
    body: bytes | None,
    headers: Mapping[str, str],
    timeout: float,
) -> bytes:
    import requests

    deadline = time.monotonic() + timeout
    request_headers = {
        "Accept": "application/json",
        "Accept-Encoding": "identity",
        "User-Agent": "Tillgate/1.0",
        **headers,
    }
    limits = (min(CONNECT_SECONDS, timeout), timeout)
    try:
        with requests.Session() as session:
            session.trust_env = False
            with session.request(
                method,
                url,
                params=params,
                data=body,
                headers=request_headers,
                timeout=limits,
                allow_redirects=False,
                stream=True,
            ) as response:
                raw = _within(response, deadline)
    except requests.RequestException as error:
        raise ProviderError(ErrorCode.UNREACHABLE, type(error).__name__) from None
    if response.status_code not in ((200,) if body is None else (200, 201, 202, 204)):
        kind = NotThere if response.status_code == HTTPStatus.NOT_FOUND else ProviderError
        raise kind(_code_of(response.status_code), f"HTTP {response.status_code}")
    return raw


def _code_of(status: int) -> ErrorCode:
    """A status of 400 to 499 alone is a refusal of the call; nobody knows what became of it after
    any other."""
    if status == HTTPStatus.TOO_MANY_REQUESTS:
        return ErrorCode.THROTTLED
    return ErrorCode.REFUSED if 400 <= status < 500 else ErrorCode.UNREACHABLE


def _within(response: "requests.Response", deadline: float) -> bytes:
    parts = bytearray()
    while chunk := _some(response):
        parts += chunk
        if len(parts) > PROVIDER_BYTES_MAX:
            raise ProviderError(ErrorCode.MALFORMED, "answer too large")
        if time.monotonic() > deadline:
            raise ProviderError(ErrorCode.UNREACHABLE, "answer took too long")
    return bytes(parts)


def _some(response: "requests.Response") -> bytes:
    """Bytes that have arrived, without waiting for a full buffer: a dripping sender must not
    outlast the deadline."""
    try:
        chunk: bytes = response.raw.read1(65536)
    except Exception as error:
        raise ProviderError(ErrorCode.UNREACHABLE, type(error).__name__) from None
    return chunk
