"""Transfers that are signed while another run sends or follows aren't left to the next sweep."""

import threading
from collections.abc import Iterator
from datetime import timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest
import requests
from django.conf import settings
from django.db import connection

from apps.chain.models import HotWallet, OutgoingTransaction, SignedTransaction
from apps.chain.sending import sender, signing_rounds
from apps.chain.tasks import send_due
from apps.core import clock
from apps.core.redis import buckets
from tests.core.test_modes import waiting
from tests.sending.conftest import World

pytestmark = pytest.mark.chain


class Slow(BaseHTTPRequestHandler):
    """A node that has something happen once, before it answers about a method: something else is
    asked for, signed, and its run begins."""

    upstream = ""
    method = b""
    world: World
    answers_before = 0  # about the method, without anything happening
    asked: list[bytes] = []

    def happen(self) -> None:
        self.world.ask()
        signing_rounds.sign_due("test")
        send_due("test")
        buckets.client().flushdb()  # its message was the last one

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        if self.method in body:
            self.asked.append(body)
            if len(self.asked) == self.answers_before + 1:
                self.happen()
                connection.close()
        answer = requests.post(
            self.upstream, data=body, headers={"Content-Type": "application/json"}, timeout=60
        )
        self.send_response(answer.status_code)
        self.send_header("Content-Length", str(len(answer.content)))
        self.end_headers()
        self.wfile.write(answer.content)

    def log_message(self, *_: Any) -> None:
        """Quiet."""


class Replacing(Slow):
    """A transfer that is replaced, and whose replacement is mined and confirmed."""

    answers_before = 1  # to who looks for what was undone

    def happen(self) -> None:
        SignedTransaction.objects.update(
            signed_at=clock.real_now() - timedelta(seconds=settings.SIGNER_STUCK_SECONDS + 1)
        )
        signing_rounds.sign_due("test")
        send_due("test")
        self.world.mine(5)


@pytest.fixture
def slow_node(world: World, settings: Any, request: pytest.FixtureRequest) -> Iterator[None]:
    base, method = request.param
    handler = type(
        "Handler", (base,), {"upstream": world.url, "world": world, "method": method, "asked": []}
    )
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    settings.CHAIN_URLS = {
        **settings.CHAIN_URLS,
        "sepolia": [f"http://127.0.0.1:{server.server_port}"],
    }
    yield
    server.shutdown()
    server.server_close()


@pytest.mark.parametrize("slow_node", [(Slow, b"eth_sendRawTransaction")], indirect=True)
def test_what_was_signed_while_a_run_sent_others_wakes_the_next_run_at_once(
    world: World, slow_node: None
) -> None:
    world.ask()
    signing_rounds.sign_due("test")
    buckets.client().flushdb()
    sender.run_due("test")
    assert "chain.send" in waiting("test")


@pytest.mark.parametrize("slow_node", [(Slow, b"eth_getTransactionReceipt")], indirect=True)
def test_what_was_signed_while_a_run_followed_others_is_sent_meanwhile(
    world: World, slow_node: None
) -> None:
    world.ask()
    signing_rounds.sign_due("test")
    sender.run_due("test")
    assert OutgoingTransaction.objects.filter(status="submitted").count() == 2
    assert waiting("test") == set()


@pytest.mark.parametrize("slow_node", [(Replacing, b"eth_blockNumber")], indirect=True)
def test_a_replacement_that_another_run_sends_meanwhile_is_nobody_elses_nonce(
    world: World, slow_node: None
) -> None:
    world.automine(False)
    row = world.ask()
    signing_rounds.sign_due("test")
    sender.run_due("test")
    row.refresh_from_db()
    assert row.candidates.count() == 2
    assert (row.status, HotWallet.objects.get(chain="sepolia").halted_at) == ("confirmed", None)


def test_a_run_that_leaves_nothing_wakes_nobody(world: World) -> None:
    world.ask()
    signing_rounds.sign_due("test")
    buckets.client().flushdb()
    sender.run_due("test")
    assert waiting("test") == set()
