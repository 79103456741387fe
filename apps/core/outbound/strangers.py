"""HTTP to addresses that strangers chose: only public ones, pinned to the address that was checked.

It follows no redirects, keeps no cookies, asks no proxy and inflates no answer; what it reads is
bounded and within a total deadline.
"""

import asyncio
import socket
import ssl
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from types import SimpleNamespace

import aiohttp
from aiohttp.abc import AbstractResolver, ResolveResult
from yarl import URL

from apps.core.outbound import net

ANSWER_SECONDS = 30.0
ANSWER_BYTES_MAX = 64 * 1024

Lookup = Callable[[str, int], Awaitable[list[str]]]
Session = aiohttp.ClientSession


class NoAnswer(Exception):
    """The receiver gave no whole HTTP answer; the text is one short word for the record."""


@dataclass(frozen=True)
class Answer:
    status: int
    body: bytes


async def system_lookup(host: str, port: int) -> list[str]:
    """Every address that the system's resolver has for a name."""
    entries = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(entry[4][0]) for entry in entries))


class PublicResolver(AbstractResolver):
    """Hands the connector only addresses that have been checked, so that what is checked is what is
    connected to."""

    def __init__(self, lookup: Lookup) -> None:
        self._lookup = lookup

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_UNSPEC
    ) -> list[ResolveResult]:
        addresses = await self._lookup(host, port)
        net.check_host(host, addresses)
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
    """A session for `post`; made inside the running loop. The caller limits how many are in
    flight."""
    trace = aiohttp.TraceConfig()
    trace.on_connection_reuseconn.append(_note_reuse)
    connector = aiohttp.TCPConnector(
        limit=0,
        resolver=PublicResolver(lookup),
        ttl_dns_cache=10,
        keepalive_timeout=15,
        ssl=context or True,
        happy_eyeballs_delay=None,
    )
    return Session(
        connector=connector,
        trace_configs=[trace],
        cookie_jar=aiohttp.DummyCookieJar(),
        auto_decompress=False,
        trust_env=False,
        skip_auto_headers=("Accept", "Accept-Encoding", "User-Agent"),
        timeout=aiohttp.ClientTimeout(
            total=net.CONNECT_SECONDS + ANSWER_SECONDS, connect=net.CONNECT_SECONDS
        ),
    )


@dataclass
class _Connection:
    is_reused: bool = False


async def _note_reuse(
    session: Session,
    context: SimpleNamespace,
    params: aiohttp.TraceConnectionReuseconnParams,
) -> None:
    context.trace_request_ctx.is_reused = True


async def post(session: Session, url: str, body: bytes, headers: Mapping[str, str]) -> Answer:
    """The answer, whatever its status; its body is cut at 64 KiB. Raises PrivateAddress or
    NoAnswer. What a kept connection loses is sent again: the receiver may have closed it before the
    request came."""
    try:
        # Read once: what is checked here is what the session connects to.
        target = URL(url, encoded=True)
    except ValueError:
        raise NoAnswer("invalid_url") from None
    host = target.raw_host or ""
    if _is_literal(host):
        net.check_host(host, [host])
    try:
        async with asyncio.timeout(net.CONNECT_SECONDS + ANSWER_SECONDS):
            return await _post(session, target, body, headers)
    except TimeoutError as error:
        raise NoAnswer(
            "connect_timeout" if isinstance(error, aiohttp.ConnectionTimeoutError) else "timeout"
        ) from None
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


async def _post(session: Session, target: URL, body: bytes, headers: Mapping[str, str]) -> Answer:
    while True:
        connection = _Connection()
        try:
            async with session.post(
                target,
                data=body,
                headers=headers,
                allow_redirects=False,
                trace_request_ctx=connection,
            ) as response:
                return Answer(response.status, await _bounded(response))
        except (aiohttp.ServerDisconnectedError, aiohttp.ClientOSError):
            if not connection.is_reused:
                raise


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
    """True if the connector takes the host for an address and asks no resolver about it; short
    spellings are not valid ones."""
    return ":" in host or host.replace(".", "").isdigit()
