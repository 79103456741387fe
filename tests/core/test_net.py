"""Which addresses are public, and that what was checked is what is connected to."""

import asyncio
import contextlib
import http.server
import socket
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from apps.core.errors import ProviderError
from apps.core.outbound import net
from apps.core.outbound import strangers as posting

PRIVATE = [
    "127.0.0.1",
    "127.255.255.254",
    "0.0.0.0",
    "10.0.0.1",
    "172.16.0.1",
    "172.31.255.255",
    "192.168.1.1",
    "169.254.169.254",
    "169.254.170.2",
    "100.64.0.1",
    "192.0.0.8",
    "192.0.2.1",
    "198.18.0.1",
    "198.51.100.1",
    "203.0.113.1",
    "192.88.99.1",
    "224.0.0.1",
    "240.0.0.1",
    "255.255.255.255",
    "::",
    "::1",
    "::127.0.0.1",
    "::ffff:127.0.0.1",
    "::ffff:169.254.169.254",
    "::ffff:10.0.0.1",
    "64:ff9b::7f00:1",
    "64:ff9b:1::1",
    "fe80::1",
    "fe80::1%eth0",
    "fc00::1",
    "fd00:ec2::254",
    "ff02::1",
    "2001::1",
    "2001:db8::1",
    "2002:7f00:1::",
    "3fff::1",
    "100::1",
    "5f00::1",
    "4000::1",
    "localhost",
    "",
    "127.1",
    "0x7f000001",
    "2130706433",
    "1.1.1.1.",
]
PUBLIC = [
    "1.1.1.1",
    "8.8.8.8",
    "93.184.216.34",
    "2606:4700:4700::1111",
    "2a00:1450:4001:81b::200e",
    "::ffff:1.1.1.1",
]


@pytest.mark.parametrize("address", PRIVATE)
def test_an_address_that_is_not_on_the_public_internet_is_refused(address: str) -> None:
    assert not net.is_public(address)


@pytest.mark.parametrize("address", PUBLIC)
def test_a_public_address_is_let_through(address: str) -> None:
    assert net.is_public(address)


def test_one_private_answer_among_public_ones_refuses_the_name() -> None:
    with pytest.raises(net.PrivateAddress):
        net.check_host("mixed.test", ["1.1.1.1", "10.0.0.1"])
    with pytest.raises(net.PrivateAddress):
        net.check_host("v6private.test", ["1.1.1.1", "fd00::1"])
    net.check_host("public.test", ["1.1.1.1", "2606:4700:4700::1111"])


def test_this_service_itself_is_refused_whatever_it_resolves_to(settings: Any) -> None:
    settings.PUBLIC_URL = "https://pay.example"
    with pytest.raises(net.PrivateAddress):
        net.check_host("PAY.example.", ["1.1.1.1"])


@pytest.mark.parametrize(
    "host",
    [
        "127.0.0.1",
        "127.1",
        "0x7f000001",
        "2130706433",
        "0177.0.0.1",
        "localhost",
        "LOCALHOST.",
        "::1",
        "0",
    ],
)
def test_every_spelling_of_this_machine_is_refused_when_resolved(host: str) -> None:
    with pytest.raises((net.PrivateAddress, net.Unresolvable)):
        net.check_url_host(host, 443)


def test_a_name_without_an_address_is_unresolvable() -> None:
    for host in ("nope.invalid", "a" * 64 + ".example", "x" * 300):
        with pytest.raises(net.Unresolvable):
            net.check_url_host(host, 443)


def test_a_resolver_that_takes_too_long_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    let_go = threading.Event()
    monkeypatch.setattr(net.socket, "getaddrinfo", lambda *_, **__: let_go.wait(60) and [])
    monkeypatch.setattr(net, "RESOLVE_SECONDS", 0.1)
    started = time.monotonic()
    with pytest.raises(net.Unresolvable):
        net.check_url_host("slow.test", 443)
    assert time.monotonic() - started < 50
    let_go.set()


def answers(*rounds: list[str]) -> posting.Lookup:
    """A resolver that gives the next answer each time it is asked, and the last one from then
    on."""
    left = list(rounds)

    async def lookup(host: str, port: int) -> list[str]:
        return left.pop(0) if len(left) > 1 else left[0]

    return lookup


class Listener:
    """Counts who connects."""

    def __init__(self) -> None:
        self.connections = 0
        self._socket = socket.create_server(("127.0.0.1", 0))
        self.port = self._socket.getsockname()[1]
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self) -> None:
        while True:
            try:
                peer, _ = self._socket.accept()
            except OSError:
                return
            self.connections += 1
            self.host = next(
                line for line in peer.recv(4096).split(b"\r\n") if line.lower().startswith(b"host:")
            )
            peer.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
            peer.close()

    def close(self) -> None:
        self._socket.close()


@pytest.fixture
def listener() -> Iterator[Listener]:
    one = Listener()
    yield one
    one.close()


def posted(lookup: posting.Lookup, *urls: str) -> list[Any]:
    async def run() -> list[Any]:
        async with posting.open_session(lookup) as session:
            return [await _outcome(session, url) for url in urls]

    return asyncio.run(run())


async def _outcome(session: posting.Session, url: str) -> Any:
    try:
        return (await posting.post(session, url, b"{}", {})).status
    except (net.PrivateAddress, posting.NoAnswer) as refusal:
        return type(refusal)


def test_a_name_that_turns_private_is_not_connected_to(listener: Listener) -> None:
    url = f"http://rebind.test:{listener.port}/"
    assert posted(answers(["127.0.0.1"]), url) == [net.PrivateAddress]
    assert posted(answers(["1.1.1.1", "127.0.0.1"]), url) == [net.PrivateAddress]
    assert listener.connections == 0


def test_the_address_that_was_checked_is_the_one_connected_to(
    listener: Listener, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A second question to the resolver would get another address; nobody asks."""
    monkeypatch.setattr(net, "is_public", lambda address: address == "127.0.0.1")
    url = f"http://rebind.test:{listener.port}/"
    assert posted(answers(["127.0.0.1"], ["10.0.0.1"]), url) == [200]
    assert (listener.connections, listener.host) == (1, b"Host: rebind.test:%d" % listener.port)


def test_a_literal_private_address_is_not_connected_to(listener: Listener) -> None:
    urls = [f"http://127.0.0.1:{listener.port}/", f"http://[::ffff:127.0.0.1]:{listener.port}/"]
    assert posted(posting.system_lookup, *urls) == [net.PrivateAddress] * 2
    odd = [
        f"http://{host}:{listener.port}/"
        for host in ("127.1", "2130706433", "0x7f000001", "localhost", "0", "127.0.0.1.", "[::1")
    ]
    assert set(posted(posting.system_lookup, *odd)) <= {net.PrivateAddress, posting.NoAnswer}
    assert posted(posting.system_lookup, odd[0], odd[1]) == [net.PrivateAddress] * 2
    assert listener.connections == 0


def test_no_proxy_of_the_environment_is_used(
    listener: Listener, monkeypatch: pytest.MonkeyPatch, settings: Any
) -> None:
    settings.WEBHOOK_ALLOW_HOSTS = ["127.0.0.1"]
    proxy = Listener()
    monkeypatch.setenv("HTTP_PROXY", f"http://127.0.0.1:{proxy.port}")
    monkeypatch.setenv("ALL_PROXY", f"http://127.0.0.1:{proxy.port}")
    assert posted(posting.system_lookup, f"http://127.0.0.1:{listener.port}/") == [200]
    assert net_json(f"http://127.0.0.1:{listener.port}/") is ProviderError
    assert (listener.connections, proxy.connections) == (2, 0)
    proxy.close()


# --- asking providers -----------------------------------------------------------------------------


def net_json(url: str, timeout: float = 2.0) -> Any:
    try:
        return net.get_json(url, timeout=timeout)
    except ProviderError as error:
        return type(error)


@pytest.fixture
def serve() -> Iterator[Callable[..., str]]:
    """A web server that answers GET with these bytes; its address."""
    servers = []

    def start(status: int, body: Callable[[Any], None]) -> str:
        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                self.send_response(status)
                self.send_header("Location", "/elsewhere")
                self.end_headers()
                with contextlib.suppress(OSError):
                    body(self.wfile)

            def log_message(self, *_: Any) -> None:
                pass

        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        server.daemon_threads = True
        threading.Thread(target=server.serve_forever, args=[0.02], daemon=True).start()
        servers.append(server)
        return f"http://127.0.0.1:{server.server_port}/"

    yield start
    for server in servers:
        server.shutdown()
        server.server_close()


def test_a_providers_json_is_read(serve: Callable[..., str]) -> None:
    assert net.get_json(serve(200, lambda out: out.write(b'{"price": "1.5"}')), {"a": "b"}) == {
        "price": "1.5"
    }


@pytest.mark.parametrize(
    ("status", "code"),
    [
        (302, "unreachable"),
        (400, "refused"),
        (404, "refused"),
        (429, "throttled"),
        (500, "unreachable"),
        (503, "unreachable"),
    ],
)
def test_a_providers_status_says_whether_it_refused_the_call(
    serve: Callable[..., str], status: int, code: str
) -> None:
    with pytest.raises(ProviderError) as refusal:
        net.get_json(serve(status, lambda out: out.write(b"{}")))
    assert refusal.value.code == code


def test_an_answer_without_end_is_cut_off(serve: Callable[..., str]) -> None:
    def endless(out: Any) -> None:
        while True:
            out.write(b"[" * 65536)

    assert net_json(serve(200, endless)) is ProviderError


def test_a_dripping_answer_does_not_outlast_the_deadline(serve: Callable[..., str]) -> None:
    pause = threading.Event()

    def drip(out: Any) -> None:
        while True:
            out.write(b" ")
            out.flush()
            pause.wait(0.02)

    started = time.monotonic()
    assert net_json(serve(200, drip), timeout=0.3) is ProviderError
    assert time.monotonic() - started < 50


def test_what_is_not_json_is_a_provider_error(serve: Callable[..., str]) -> None:
    for body in (b"<html>", b"", b"[" * 100_000, b"\xff"):
        assert net_json(serve(200, lambda out, body=body: out.write(body))) is ProviderError
    assert net_json("http://127.0.0.1:9/") is ProviderError
