"""Receivers that misbehave: each costs its own endpoint one failed attempt, and nobody else
anything."""

import socket
import ssl
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from cryptography import x509

from apps.core.outbound import net
from apps.core.outbound import strangers as posting
from apps.webhooks.delivery import dispatcher
from apps.webhooks.delivery.sender import WebhookSender
from apps.webhooks.models import Delivery, Endpoint
from tests.cast import Shop
from tests.webhooks.receivers import RawReceiver, Receiver
from tests.webhooks.test_delivery import CREATED, Register, happens, only

pytestmark = pytest.mark.django_db
GZIP_BOMB = bytes.fromhex("1f8b0800000000000003") + b"\x00" * 200_000


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """The product's time limits, a hundred times shorter."""
    monkeypatch.setattr(net, "CONNECT_SECONDS", 2.0)
    monkeypatch.setattr(posting, "ANSWER_SECONDS", 0.3)


@pytest.fixture
def deliver(impatient: None) -> Iterator[Callable[[], None]]:
    with WebhookSender() as sender:
        yield lambda: dispatcher.drain(sender)


def hang(peer: socket.socket) -> None:
    peer.recv(1)


def drip_headers(peer: socket.socket) -> None:
    peer.sendall(b"HTTP/1.1 200 OK\r\n")
    while True:
        peer.sendall(b"X: y\r\n")
        peer.settimeout(0.02)
        try:
            if not peer.recv(1):
                return
        except TimeoutError:
            pass


def drip_body(peer: socket.socket) -> None:
    peer.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n")
    peer.settimeout(0.02)
    while True:
        peer.sendall(b"x")
        try:
            if not peer.recv(1):
                return
        except TimeoutError:
            pass


def flood(first: bytes) -> Callable[[socket.socket], None]:
    def talk(peer: socket.socket) -> None:
        peer.sendall(first)
        while True:
            peer.sendall(b"1000\r\n" + b"x" * 4096 + b"\r\n")

    return talk


def say(text: bytes) -> Callable[[socket.socket], None]:
    def talk(peer: socket.socket) -> None:
        peer.sendall(text)
        peer.shutdown(socket.SHUT_WR)
        peer.recv(1)

    return talk


def interim(peer: socket.socket) -> None:
    while True:
        peer.sendall(b"HTTP/1.1 102 Processing\r\n\r\n" * 50)


def reset(peer: socket.socket) -> None:
    peer.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\x01\x00\x00\x00\x00\x00\x00\x00")


FAILURES = [
    (hang, "timeout", None),
    (drip_headers, "timeout", None),
    (drip_body, "timeout", None),
    (interim, "timeout", None),
    (reset, "connection_lost", None),
    (say(b""), "connection_lost", None),
    (say(b"SSH-2.0-OpenSSH_9.6\r\n"), "invalid_answer", None),
    (say(b"HTTP/1.1 200 OK\r\nX: " + b"x" * 100_000 + b"\r\n\r\n"), "invalid_answer", None),
    (say(b"HTTP/1.1 200 OK\r\nContent-Length: 50\r\n\r\nshort"), "invalid_answer", None),
    (
        say(
            b"HTTP/1.1 302 Found\r\nLocation: http://169.254.169.254/\r\nContent-Length: 0\r\n\r\n"
        ),
        "http_302",
        302,
    ),
    (say(b"HTTP/1.1 307 Again\r\nLocation: /hook\r\nContent-Length: 0\r\n\r\n"), "http_307", 307),
    (say(b"HTTP/1.1 500 No\r\nContent-Length: 0\r\n\r\n"), "http_500", 500),
]


@pytest.mark.parametrize(
    ("talk", "error", "code"), FAILURES, ids=lambda one: getattr(one, "__name__", str(one))
)
def test_a_failure_is_one_failed_attempt_with_one_connection(
    bakery: Shop,
    register: Register,
    deliver: Callable[[], None],
    talk: Any,
    error: str,
    code: int | None,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    if error != "timeout":  # a busy machine may keep an answer longer
        monkeypatch.setattr(posting, "ANSWER_SECONDS", 30)
    with RawReceiver(talk) as receiver:
        endpoint, _ = register(receiver.url, CREATED)
        happens(bakery)
        started = time.monotonic()
        deliver()
        assert time.monotonic() - started < 30
        assert receiver.connections == 1
    delivery = only(endpoint)
    assert (delivery.status, delivery.attempts, delivery.error, delivery.response_status) == (
        "pending",
        1,
        error,
        code,
    )


@pytest.mark.parametrize(
    "talk",
    [
        flood(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"),
        flood(b"HTTP/1.1 200 OK\r\nContent-Length: 100000000\r\n\r\n"),
        say(
            b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 200010\r\n\r\n"
            + GZIP_BOMB
        ),
    ],
    ids=["chunked without end", "hundred megabytes", "gzip bomb"],
)
def test_of_a_long_answer_no_more_than_64_kib_is_read_and_nothing_is_inflated(
    bakery: Shop, register: Register, deliver: Callable[[], None], talk: Any
) -> None:
    with RawReceiver(talk) as receiver:
        endpoint, _ = register(receiver.url, CREATED)
        happens(bakery)
        deliver()
    delivery = only(endpoint)
    assert delivery.status == "delivered"
    assert len(delivery.response_body or "") <= 1024


def test_cookies_are_not_kept(
    bakery: Shop, register: Register, deliver: Callable[[], None]
) -> None:
    answer = (
        b"HTTP/1.1 200 OK\r\nSet-Cookie: a=b; Path=/\r\nContent-Length: 0\r\nConnection:"
        b" close\r\n\r\n"
    )
    with RawReceiver(say(answer)) as receiver:
        register(receiver.url, CREATED)
        happens(bakery)
        deliver()
        happens(bakery)
        deliver()
        assert len(receiver.requests) == 2
        assert not any(b"cookie" in request.lower() for request in receiver.requests)


def test_a_certificate_that_nobody_vouches_for_is_refused(
    bakery: Shop, register: Register, deliver: Callable[[], None], tmp_path: Any
) -> None:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(*self_signed(tmp_path, "127.0.0.1"))
    with RawReceiver(say(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"), context) as receiver:
        endpoint, _ = register(receiver.url, CREATED)
        happens(bakery)
        deliver()
        assert receiver.requests == []
    assert (only(endpoint).status, only(endpoint).error) == ("pending", "certificate_invalid")


def test_a_receiver_that_speaks_no_tls_fails(
    bakery: Shop, receiver: Receiver, register: Register, deliver: Callable[[], None]
) -> None:
    endpoint, _ = register(receiver.url.replace("http:", "https:"), CREATED)
    happens(bakery)
    deliver()
    assert (only(endpoint).status, only(endpoint).error) == ("pending", "tls_failed")


def test_a_closed_port_fails(bakery: Shop, register: Register, deliver: Callable[[], None]) -> None:
    endpoint, _ = register("http://127.0.0.1:9/hook", CREATED)
    happens(bakery)
    deliver()
    assert (only(endpoint).status, only(endpoint).error) == ("pending", "connection_refused")


def test_others_are_served_while_one_hangs(
    bakery: Shop, receiver: Receiver, register: Register, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(posting, "ANSWER_SECONDS", 90)
    """It is let go when they have all been served, which its patience would outlast."""
    let_go = threading.Event()
    waits = list[bool]()

    def hang(peer: socket.socket) -> None:
        waits.append(let_go.wait(60))
        say(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")(peer)

    with RawReceiver(hang) as hanging:
        dead, _ = register(hanging.url, CREATED)
        for _ in range(3):
            register(receiver.url, CREATED)
        for _ in range(20):
            happens(bakery)
        good = Delivery.objects.exclude(endpoint=dead)

        def watch() -> None:
            while len(receiver.requests) < 60 and not let_go.wait(0.01):
                pass
            let_go.set()

        threading.Thread(target=watch, daemon=True).start()
        with WebhookSender() as sender:
            dispatcher.drain(sender)
        assert hanging.connections <= 20
        assert good.filter(status="delivered").count() == 60
        assert waits and all(waits)


def close_when_used_again(peer: socket.socket) -> None:
    """As a server does whose patience with idle connections ends while a request is on its way."""
    peer.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
    peer.recv(65536)


def test_a_kept_connection_that_is_closed_meanwhile_costs_no_attempt(
    bakery: Shop, register: Register, deliver: Callable[[], None]
) -> None:
    with RawReceiver(close_when_used_again) as receiver:
        endpoint, _ = register(receiver.url, CREATED)
        for _ in range(3):
            happens(bakery)
            deliver()
        rows = Delivery.objects.filter(endpoint=endpoint).order_by("created_at")
        assert [(row.status, row.attempts) for row in rows] == [("delivered", 1)] * 3
        assert receiver.connections == 3


def self_signed(folder: Any, name: str) -> tuple[str, str]:
    """Files with a certificate for the IP address and its key."""
    import ipaddress
    from datetime import UTC, datetime, timedelta

    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec

    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, name)])
    now = datetime.now(UTC)
    certificate = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(subject)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(
            x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address(name))]),
            critical=False,
        )
        .sign(key, hashes.SHA256())
    )
    (folder / "cert.pem").write_bytes(certificate.public_bytes(serialization.Encoding.PEM))
    (folder / "key.pem").write_bytes(
        key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        )
    )
    return str(folder / "cert.pem"), str(folder / "key.pem")


def test_the_endpoint_of_a_private_address_is_turned_off_without_a_connection(
    bakery: Shop, register: Register, deliver: Callable[[], None], settings: Any
) -> None:
    with RawReceiver(hang) as receiver:
        endpoint, _ = register(receiver.url, CREATED)
        happens(bakery)
        happens(bakery)
        happens(bakery)
        settings.WEBHOOK_ALLOW_HOSTS = []
        deliver()
        assert receiver.connections == 0
    endpoint = Endpoint.objects.get(pk=endpoint.pk)
    assert (endpoint.status, endpoint.is_notice_due) == ("error", True)
    assert set(Delivery.objects.values_list("status", "error")) <= {
        ("failed", "private_address"),
        ("ignored", None),
    }
