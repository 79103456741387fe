"""SIGKILL in the middle: worker, beat and watcher die while customers pay, and nothing is lost or doubled."""

import json
import os
import random
import signal
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from apps.console.demo.chain import Wallet
from config.demo_secrets import CHAIN_KEYS
from tests.stack import OWN, ROOT, Remote, free_port, mine, wait_for
from tests.webhooks.receivers import Receiver

PAYMENTS = 12
KEEPER = """
import json, os, sys
from config import embedded
embedded.ensure(mode=embedded.DEMO)
print(json.dumps({name: os.environ.get(name, "") for name in embedded.SERVICES}), flush=True)
sys.stdin.read()
"""


class Stack:
    """Web, worker, beat and watcher as processes that can be killed one by one, on services that stay."""

    def __init__(self) -> None:
        self.folder = tempfile.TemporaryDirectory(prefix="tg", dir="/tmp")
        base = {name: value for name, value in os.environ.items() if name not in OWN}
        self.port = free_port()
        self.base_url = f"http://localhost:{self.port}"
        self.environ = {
            **base, "TILLGATE_VAR": self.folder.name, "TILLGATE_ENV": "demo", "PUBLIC_URL": self.base_url, "PYTHONPATH": str(ROOT),
            "WEBHOOK_ALLOW_HOSTS": "127.0.0.1", "DJANGO_SETTINGS_MODULE": "config.settings", "LOG_LEVEL": "WARNING",
        }  # fmt: skip
        self.keeper = self._spawn([sys.executable, "-c", KEEPER], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        assert self.keeper.stdout is not None
        self.environ |= {name: value for name, value in json.loads(self.keeper.stdout.readline()).items() if value}
        self.log = (Path(self.folder.name) / "log").open("w")
        self.manage("migrate", "--verbosity", "0")
        self.manage("set_asset", "ETH", "--confirmations", "3")
        self.processes: dict[str, subprocess.Popen[str]] = {}

    def _spawn(self, command: list[str], **options: Any) -> "subprocess.Popen[str]":
        return subprocess.Popen(command, cwd=ROOT, env=self.environ, start_new_session=True, **options)

    def manage(self, *arguments: str) -> Any:
        run = subprocess.run(
            [sys.executable, "manage.py", *arguments], cwd=ROOT, env=self.environ, capture_output=True, text=True, check=False
        )
        assert run.returncode == 0, run.stdout + run.stderr
        return json.loads(run.stdout) if "--json" in arguments else run.stdout

    def commands(self) -> dict[str, list[str]]:
        programs = Path(sys.executable).parent
        celery = [str(programs / "celery"), "--quiet", "-A", "config.celery"]
        return {
            "web": [
                str(programs / "granian"), "--interface", "wsgi", "--host", "127.0.0.1", "--port", str(self.port), "--log-level", "warning",
                "config.wsgi:application",
            ],
            "worker": [*celery, "worker", "--concurrency", "2", "--loglevel", "WARNING", "--without-gossip", "--without-mingle"],
            "beat": [*celery, "beat", "--loglevel", "WARNING", "--pidfile", ""],
            "watcher": [sys.executable, "manage.py", "watch_chains"],
        }  # fmt: skip

    def start(self, name: str) -> None:
        self.processes[name] = self._spawn(self.commands()[name], stdout=self.log, stderr=self.log, text=True)

    def kill(self, name: str) -> None:
        """SIGKILL to the process and everything it started."""
        os.killpg(self.processes[name].pid, signal.SIGKILL)
        self.processes.pop(name).wait()

    def close(self) -> None:
        for name in list(self.processes):
            self.kill(name)
        assert self.keeper.stdin is not None
        self.keeper.stdin.close()
        self.keeper.wait(30)
        self.log.close()
        self.folder.cleanup()


@pytest.fixture
def stack() -> Iterator[Stack]:
    running = Stack()
    yield running
    running.close()


@pytest.mark.chain
def test_killed_processes_lose_and_double_nothing(stack: Stack) -> None:
    chance = random.Random(7)
    receiver = Receiver()
    made = stack.manage("create_store", "--name", "Kills", "--email", "k@example.com", "--password", "pw-0123456789", "--json")
    for name in stack.commands():
        stack.start(name)
    api = Remote(stack.base_url, made["keys"]["live"]["secret"])
    wait_for(lambda: _answers(api), lambda is_up: is_up)
    stack.manage("shell", "--command", "from apps.assets.rates import refresh; refresh()")
    api("POST", "/webhook_endpoints", {"webhook_endpoint": {"url": receiver.url, "subscribed_events": ["payment_intent.completed"]}})
    url = stack.environ["CHAIN_ETHEREUM_URL"]
    wallet = Wallet(url, CHAIN_KEYS["live"])

    payments = []
    for _ in range(PAYMENTS):
        payment = api.payment()
        entry = next(one for one in payment["payment_addresses"] if one["supported_asset"]["asset_id"] == "ETH")
        wallet.send(entry["address"], int(entry["crypto_amount_atomic"]))
        payments.append(payment)
        victim = chance.choice(["worker", "beat", "watcher"])
        stack.kill(victim)
        mine(url, chance.randint(0, 2))
        stack.start(victim)

    def unfinished() -> list[str]:
        mine(url, 1)
        return [one["id"] for one in payments if api.detail(one["id"])["status"] != "completed"]

    wait_for(unfinished, lambda left: not left, seconds=120)
    expected = {one["reference"] for one in payments}
    wait_for(lambda: _completed(receiver), lambda seen: set(seen) >= expected, seconds=120)
    assert all(len(ids) == 1 for ids in _completed(receiver).values()), "one event for each payment, however often it was delivered"
    for one in payments:
        events = Counter(event["event_type"] for event in api.detail(one["id"])["payment_events"])
        assert (events["payment_intent.completed"], events["transaction.confirmed"]) == (1, 1)
    stack.manage("verify_ledger", "--chain")
    receiver.close()


def _answers(api: Remote) -> bool:
    try:
        api("GET", "/payments")
    except OSError:
        return False
    return True


def _completed(receiver: Receiver) -> dict[str, set[str]]:
    """Reference -> the ids of its completed events."""
    seen: dict[str, set[str]] = {}
    for event in receiver.events():
        seen.setdefault(event["data"]["object"]["id"], set()).add(event["id"])
    return seen
