"""A worker killed at every point of a transfer, answers that get lost, strangers with our key,
records from a backup.

After each of them exactly one transaction served the request, or none and a person is asked.
"""

import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
import requests
from django.core.management import call_command

from apps.chain.encoding.transactions import Transaction
from apps.chain.keys.seeds import Seed
from apps.chain.models import HotWallet, OutgoingTransaction
from apps.chain.sending import hot_wallets, signing_rounds
from apps.chain.tasks import send_due
from apps.core.models import Lease
from apps.core.process.published_secrets import DEMO_MNEMONIC
from tests import postgres
from tests.forks import Forks
from tests.sending.conftest import World
from tests.sending.test_doubts import minutes_pass

pytestmark = pytest.mark.chain
ROOT = Path(__file__).resolve().parents[2]


def kill_at(worker: Forks, place: str, wanted: dict[str, Any] | None = None) -> int:
    """Run a worker that dies at a place; its return code. What it held is free again, as when its
    leases have ended."""
    script = f"from tests.sending.worker import work; work({wanted!r})"
    code = worker.run(script, TILLGATE_FAILPOINT=place).returncode
    Lease.objects.all().delete()
    return code


def request_to(to: str, reference: str) -> dict[str, Any]:
    chosen = {"chain_id": "sepolia", "asset_id": "SETH", "mode": "test", "purpose": "test_payment"}
    return {**chosen, "to": to, "amount_atomic": 12345, "reference": reference}


def as_owner_of_the_key(world: World, to: str, value: int) -> str:
    """A transaction that the hot wallet's key signs without our records knowing."""
    key = Seed(DEMO_MNEMONIC).hot_key("test")
    unsigned = Transaction(
        11155111,
        world.nonce(),
        to,
        value,
        "0x",
        21000,
        max_fee_wei=100 * 10**9,
        priority_fee_wei=5 * 10**9,
    )
    return str(world.rpc("eth_sendRawTransaction", unsigned.signed(key).raw))


class TestAWorkerKilled:
    @pytest.mark.parametrize("place", [f"send.K{number}" for number in range(1, 7)])
    def test_before_the_transaction_is_mined(self, world: World, worker: Forks, place: str) -> None:
        to = world.stranger()
        wanted = request_to(to, place)
        assert kill_at(worker, place, wanted) == -signal.SIGKILL
        asked = OutgoingTransaction.objects.filter(reference=place)
        assert asked.exists() == (place != "send.K1")
        if place == "send.K5":
            assert (asked.get().status, world.balance(to)) == ("signed", 0)
        kept = asked.first()
        world.ask(**{**wanted, "to": to})
        world.finish()
        row = asked.get()
        [arrived] = world.raw_transfers(to)
        assert (row.status, world.balance(to)) == ("confirmed", 12345)
        assert not (kept and kept.tx_hash) or kept.tx_hash == arrived["hash"], "the bytes kept"
        assert (
            HotWallet.objects.get(pk="sepolia").next_nonce == world.nonce() == (row.nonce or 0) + 1
        )

    @pytest.mark.parametrize("place", ["send.K7", "send.K8"])
    def test_while_its_end_is_recorded(self, world: World, worker: Forks, place: str) -> None:
        to = world.stranger()
        row = world.ask(12345, to)
        world.work()
        world.mine(4)
        assert kill_at(worker, place) == -signal.SIGKILL
        world.finish()
        assert OutgoingTransaction.objects.get(pk=row.pk).status == "confirmed"
        assert (world.balance(to), len(world.raw_transfers(to))) == (12345, 1)


class Deaf(BaseHTTPRequestHandler):
    """A node that takes everything and says nothing, whenever it is about sending."""

    upstream = ""

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        answer = requests.post(
            self.upstream, data=body, headers={"Content-Type": "application/json"}, timeout=10
        )
        if b"eth_sendRawTransaction" in body:
            self.close_connection = True
            return
        self.send_response(answer.status_code)
        self.send_header("Content-Length", str(len(answer.content)))
        self.end_headers()
        self.wfile.write(answer.content)

    def log_message(self, *_: Any) -> None:
        """Quiet."""


@pytest.fixture
def deaf_node(world: World, settings: Any) -> Iterator[None]:
    """All calls go through a node whose answers to a broadcast are lost."""
    handler = type("Handler", (Deaf,), {"upstream": world.url})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    settings.CHAIN_URLS = {
        **settings.CHAIN_URLS,
        "sepolia": [f"http://127.0.0.1:{server.server_port}"],
    }
    yield
    server.shutdown()
    server.server_close()


def test_an_answer_that_got_lost_is_looked_up_and_never_sent_anew(
    world: World, deaf_node: None
) -> None:
    to = world.stranger()
    row = world.ask(12345, to)
    world.finish()
    world.finish()
    row.refresh_from_db()
    assert (
        row.status,
        row.candidates.count(),
        world.balance(to),
        len(world.raw_transfers(to)),
    ) == ("confirmed", 1, 12345, 1)


class TestANonceThatIsNotOurs:
    def test_records_behind_the_chain_halt_the_wallet_and_ask_a_person(self, world: World) -> None:
        signing_rounds.introduce()
        to = world.stranger()
        tx_hash = as_owner_of_the_key(world, to, 12345)  # what a backup has forgotten
        world.mine()
        row = world.ask(12345, to)
        world.finish()
        row.refresh_from_db()
        assert (row.status, row.nonce, world.balance(to)) == ("review", None, 12345)
        assert "our records end at" in HotWallet.objects.get(pk="sepolia").halted_reason
        later = world.ask(1)
        world.finish()
        later.refresh_from_db()
        assert later.status == "requested"
        call_command("sending", "sent", str(row.pk), "--hash", tx_hash, "--json", stdout=StringIO())
        call_command("sending", "resume", "sepolia", "--json", stdout=StringIO())
        world.finish()
        row.refresh_from_db()
        later.refresh_from_db()
        assert (row.status, later.status, len(world.raw_transfers(to))) == (
            "confirmed",
            "confirmed",
            1,
        )

    def test_what_a_person_finds_unsent_is_sent_once(self, world: World) -> None:
        signing_rounds.introduce()
        as_owner_of_the_key(world, world.stranger(), 1)
        world.mine()
        to = world.stranger()
        row = world.ask(12345, to)
        world.work()
        call_command("sending", "unsent", str(row.pk), "--json", stdout=StringIO())
        call_command("sending", "resume", "all", "--json", stdout=StringIO())
        world.finish()
        row.refresh_from_db()
        assert (row.status, len(world.raw_transfers(to))) == ("confirmed", 1)

    def test_a_person_cannot_name_a_transaction_that_did_something_else(
        self, world: World, capsys: pytest.CaptureFixture[str]
    ) -> None:
        signing_rounds.introduce()
        tx_hash = as_owner_of_the_key(world, world.stranger(), 1)
        world.mine()
        row = world.ask(12345)
        world.work()
        with pytest.raises(SystemExit):
            call_command("sending", "sent", str(row.pk), "--hash", tx_hash)
        assert capsys.readouterr().err == "That transaction moves something else\n"
        row.refresh_from_db()
        assert row.status == "review"

    def test_a_signed_transaction_that_lost_its_nonce_goes_to_review_once_buried(
        self, world: World
    ) -> None:
        world.automine(False)
        to = world.stranger()
        row = world.ask(12345, to)
        world.work()
        world.rpc("anvil_dropTransaction", OutgoingTransaction.objects.get(pk=row.pk).tx_hash)
        as_owner_of_the_key(world, world.stranger(), 1)
        world.mine()
        world.work()
        row.refresh_from_db()
        assert row.status == "submitted"
        world.mine(4)
        world.work()
        row.refresh_from_db()
        assert row.status == "submitted"
        minutes_pass(row)
        world.work()
        row.refresh_from_db()
        assert (row.status, HotWallet.objects.get(pk="sepolia").halted_at is not None) == (
            "review",
            True,
        )
        hot_wallets.resolve_as_unsent(row, row.requested_at)
        row.refresh_from_db()
        assert (row.status, world.balance(to)) == ("failed", 0)


class TestTheSignerAsAProcess:
    def test_it_signs_what_waits_and_the_worker_without_a_key_sends_it(
        self, world: World, settings: Any, tmp_path: Path
    ) -> None:
        settings.SIGNER_INLINE = False
        settings.ALIVE_FILE = str(tmp_path / "alive")
        to = world.stranger()
        row = world.ask(12345, to)
        output = StringIO()
        call_command("signer", "--once", "--json", stdout=output)
        assert json.loads(output.getvalue()) == {"signed": 1}
        assert (tmp_path / "alive").exists()
        row.refresh_from_db()
        assert row.status == "signed"
        send_due()
        world.mine(4)
        send_due()
        row.refresh_from_db()
        assert (row.status, world.balance(to)) == ("confirmed", 12345)

    @pytest.mark.alone
    def test_it_stops_within_two_seconds_when_told_to(self, world: World) -> None:
        environment = {**os.environ, **postgres.environment()}
        process = subprocess.Popen(
            [sys.executable, "manage.py", "signer", "--json"],
            cwd=ROOT,
            env=environment,
            stdout=subprocess.PIPE,
        )
        while not HotWallet.objects.exists():
            assert process.poll() is None
        process.send_signal(signal.SIGTERM)
        told, _ = process.communicate(timeout=2)
        assert json.loads(told.splitlines()[-1]) == {"signed": 0}
