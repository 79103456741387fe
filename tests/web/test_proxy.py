"""The proxy that we ship: requests reach us whole, and only names that are ours or a merchant's get
a certificate."""

import re
import shutil
import socket
import ssl
import subprocess
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import yaml

from apps.core.clock import real_now
from dev.ports import free_port
from tests.cast import Shop
from tests.stack import ROOT, wait_for
from tests.web.wire import Request, Web

FILE = ROOT / "config/proxy/Caddyfile"
CADDY = shutil.which("caddy")
needs_caddy = pytest.mark.skipif(
    CADDY is None, reason="NO TEST OF THE PROXY RUNS: caddy is not installed"
)


def shipped(port: int, upstream: int, *, with_tls: bool) -> str:
    """The file with addresses of this machine; certificates are of a CA of its own."""
    text = FILE.read_text().replace("web:8000", f"127.0.0.1:{upstream}")
    globals_of_test = (
        "{\n\tadmin off\n\tauto_https disable_redirects\n\tskip_install_trust\n\tstorage"
        " file_system {$XDG_DATA_HOME}\n"
    )
    text = re.sub(r"^\{\n", lambda _: globals_of_test, text, count=1, flags=re.MULTILINE)
    version = re.findall(
        r"\d+",
        subprocess.run([str(CADDY), "version"], capture_output=True, text=True, check=True).stdout,
    )
    if (int(version[0]), int(version[1])) < (2, 7):
        text = text.replace("request_buffers 4MiB", "buffer_requests")
    if with_tls:
        return text.replace("https:// {", f"https://:{port} {{").replace(
            "\t\ton_demand\n", "\t\ton_demand\n\t\tissuer internal\n"
        )
    return re.sub(r"\ttls \{.*?\n\t\}\n", "", text, flags=re.DOTALL).replace(
        "https:// {", f"http://:{port} {{"
    )


Run = Callable[..., int]


@pytest.fixture
def run(tmp_path: Path) -> Iterator[Run]:
    """Starts the proxy before an upstream; its port."""
    running: list[subprocess.Popen[bytes]] = []

    def start(upstream: int, *, with_tls: bool = False) -> int:
        port = free_port()
        (tmp_path / "Caddyfile").write_text(shipped(port, upstream, with_tls=with_tls))
        environ = {
            "HOME": str(tmp_path),
            "XDG_DATA_HOME": str(tmp_path),
            "XDG_CONFIG_HOME": str(tmp_path),
            "PATH": "/usr/bin:/bin",
        }
        command = [
            str(CADDY),
            "run",
            "--config",
            str(tmp_path / "Caddyfile"),
            "--adapter",
            "caddyfile",
        ]
        running.append(subprocess.Popen(command, env=environ, stderr=(tmp_path / "log").open("wb")))
        wait_for(lambda: answers(port), lambda is_up: is_up, 20)
        return port

    yield start
    for process in running:
        process.terminate()
        process.wait(20)


def answers(port: int) -> bool:
    try:
        socket.create_connection(("127.0.0.1", port), 1).close()
    except OSError:
        return False
    return True


def test_compose_runs_it_before_the_web() -> None:
    compose = yaml.safe_load((ROOT / "compose.yaml").read_text())
    assert (
        "./config/proxy/Caddyfile:/etc/caddy/Caddyfile:ro"
        in compose["services"]["proxy"]["volumes"]
    )
    assert "TRUSTED_PROXY_HOPS=1" in (ROOT / ".env.example").read_text().splitlines()


@needs_caddy
def test_a_body_that_does_not_come_never_reaches_us(run: Run) -> None:
    with socket.create_server(("127.0.0.1", 0)) as upstream:
        reached: list[bytes] = []

        def listen() -> None:
            while True:
                try:
                    connection, _ = upstream.accept()
                except OSError:
                    return
                reached.append(connection.recv(65536))
                connection.sendall(
                    b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok"
                )
                connection.close()

        threading.Thread(target=listen, daemon=True).start()
        port = run(upstream.getsockname()[1])
        slow = [
            Request(port, b"POST /slow HTTP/1.1\r\nHost: localhost\r\nContent-Length: 500\r\n\r\n{")
            for _ in range(50)
        ]
        whole = Request(
            port, b"POST /whole HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\n\r\n{}"
        ).answer()
        assert whole.status == 200
        assert [head.split()[1] for head in reached] == [b"/whole"]
        for request in slow:
            request.socket.close()


def test_what_is_for_operators_is_not_passed_on() -> None:
    text = FILE.read_text()
    rule = text.index("respond @operators 404")
    assert "@operators path /metrics /readyz /readyz/* /internal/*" in text[:rule]
    assert rule < text.index("reverse_proxy")


@needs_caddy
def test_operators_paths_are_answered_by_the_proxy(run: Run, web: Web) -> None:
    port = run(web.port)

    def status(path: str) -> int:
        head = f"GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
        return Request(port, head.encode()).answer().status

    assert status("/healthz") == 200
    for path in ("/metrics", "/readyz", "/readyz/web", "/METRICS", "/internal/domain-allowed"):
        assert status(path) == 404


@needs_caddy
def test_a_certificate_is_made_for_what_is_ours_or_a_merchants_and_for_nobody_else(
    run: Run, web: Web, shop: Shop
) -> None:
    domain = f"pay-{shop.store.pk.hex[:8]}.example.com"
    shop.store.checkout_domain = domain
    shop.store.checkout_domain_verified_at = real_now()
    shop.store.save(update_fields=["checkout_domain", "checkout_domain_verified_at"])
    port = run(web.port, with_tls=True)

    def is_served(name: str) -> bool:
        context = ssl.create_default_context()
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
        try:
            with (
                socket.create_connection(("127.0.0.1", port), 20) as plain,
                context.wrap_socket(plain, server_hostname=name) as secure,
            ):
                secure.sendall(
                    f"GET /healthz HTTP/1.1\r\nHost: {name}\r\nConnection: close\r\n\r\n".encode()
                )
                return secure.recv(100).startswith(b"HTTP/1.1 ")
        except ssl.SSLError:
            return False

    assert is_served(domain)
    assert is_served("localhost")
    assert not is_served("stranger.example.com")
