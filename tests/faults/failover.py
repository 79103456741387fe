"""`python -m tests.faults.failover [names]`: the primary, Redis, a web process, the worker and the
watcher are killed in turn while callers ask for payments, pay them on the chain and ask for
payouts.

PostgreSQL is a primary with a synchronous standby, which is promoted. Nobody may hear anything but
a 503 with its Retry-After, for 30 s at most; afterwards every acknowledged record is there, every
deposit booked once, and the audit of books and chain has nothing to say. Exit 1 when it isn't so.
"""

import os
import re
import signal
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, NamedTuple

import requests
from django.conf import settings

from apps.audit.grants import SIGNER, WATCHER, WEB, WORKER
from apps.core.process.published_secrets import CHAIN_KEYS
from dev.demo.chain import DemoWallet
from dev.ports import free_port
from tests.faults.caller import MADE, Caller
from tests.faults.outages import Service, afterwards
from tests.faults.running import Stack
from tests.replicas import Cluster
from tests.stack import Remote, mine, wait_for

CALLERS = 3
REFUSALS_SECONDS_MAX = 30.0
# What watches over processes starts one again after so long.
SUPERVISION_SECONDS = 2.0
RECOVERY_SECONDS = 180.0
COIN = "SETH"
NO_CONNECTION = "no connection"
# Of a caller between its wishes: faster ones meet the limits of their key.
WISHES_SECONDS = 1.0


class FailoverStack(Stack):
    """Two web processes beside the rest, and two servers of PostgreSQL."""

    def __init__(self) -> None:
        super().__init__()
        self.second_port = free_port()
        self.base_urls = [self.base_url, f"http://localhost:{self.second_port}"]
        self.cluster = Cluster(self.environ["DATABASE_URL"])
        self.environ["DATABASE_URL"] = self.cluster.url()

    def commands(self) -> dict[str, list[str]]:
        commands = super().commands()
        first, second = str(self.port), str(self.second_port)
        commands["web 2"] = [second if part == first else part for part in commands["web"]]
        return commands

    def start(self, name: str, called: str = "") -> None:
        roles = {"web": WEB, "web 2": WEB, "watcher": WATCHER, "signer": SIGNER}
        role = roles.get(name, WORKER)
        own = {
            "DATABASE_URL": self.cluster.url(role),
            "DATABASE_REPLICA_URL": self.cluster.url(role, finds="standby"),
        }
        if role == WEB:
            own["APPROVAL_KEYS"] = "none"
        self.processes[called or name] = self._spawn(
            self.commands()[name], own, stdout=self.log, stderr=self.log, text=True
        )

    def close(self) -> None:
        super().close()
        self.cluster.remove()


class Answer(NamedTuple):
    """An answer to a caller, and its moment; the kind of the error when there was none."""

    at: float
    heard: str

    @property
    def is_success(self) -> bool:
        return self.heard in map(str, MADE)


@dataclass
class Customers(Caller):
    """Callers at once before a load balancer: one that doesn't reach a web process asks the other.
    `sent` has when the coins of a payment were sent."""

    base_urls: list[str] = field(default_factory=list)
    wallet: DemoWallet | None = None
    answers: list[Answer] = field(default_factory=list)
    sent: dict[str, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._ended = threading.Event()
        self._turn = threading.Lock()
        self._threads = [
            threading.Thread(target=self._run_from, args=(first,), daemon=True)
            for first in range(CALLERS)
        ]
        for thread in self._threads:
            thread.start()

    def stop(self) -> None:
        self._ended.set()
        for thread in self._threads:
            thread.join(180)

    def _run_from(self, first: int) -> None:
        number = first
        while not self._ended.is_set():
            number += CALLERS
            self._insist(
                f"payment-{number}",
                "/payments",
                {"payment_intent": {"amount": "10.00", "currency": "EUR"}},
            )
            to = f"0x{number + 10**30:040x}"
            amount = 10**16 + number
            self.wishes[to] = amount
            body = {"asset_id": COIN, "amount_atomic": str(amount), "destination_address": to}
            self._insist(f"payout-{number}", "/payouts", body)
            time.sleep(WISHES_SECONDS)

    def _ask(self, key: str, path: str, body: dict[str, Any]) -> requests.Response | None:
        answer = super()._ask(key, path, body)
        heard = NO_CONNECTION if answer is None else str(answer.status_code)
        self.answers.append(Answer(time.monotonic(), heard))
        if answer is None:
            self.base_url = next(url for url in self.base_urls if url != self.base_url)
        elif path == "/payments" and answer.status_code in MADE:
            self._pay(answer.json())
        return answer

    def _pay(self, payment: dict[str, Any]) -> None:
        """Once, however often its request is answered."""
        assert self.wallet is not None
        with self._turn:
            if payment["id"] in self.sent:
                return
            self.sent[payment["id"]] = time.monotonic()
            entry = next(
                row
                for row in payment["payment_addresses"]
                if row["supported_asset"]["asset_id"] == COIN
            )
            self.wallet.send(entry["address"], int(entry["crypto_amount_atomic"]))


def lose_primary(service: Service, stack: FailoverStack) -> None:
    stack.cluster.lose_primary()
    stack.cluster.promote_standby()


def lose_redis(service: Service, stack: FailoverStack) -> None:
    stack.lose_redis(SUPERVISION_SECONDS)


def killed(name: str) -> Callable[[Service, FailoverStack], None]:
    def kill(service: Service, stack: FailoverStack) -> None:
        stack.kill(name)
        time.sleep(SUPERVISION_SECONDS)
        stack.start(name)

    return kill


KILLS: dict[str, Callable[[Service, FailoverStack], None]] = {
    "primary": lose_primary,
    "redis": lose_redis,
    "web": killed("web"),
    "worker": killed("worker"),
    "watcher": killed("watcher"),
}


class Stretch(NamedTuple):
    """The effect of a kill: for how long no request was answered, the other answers that callers
    got, and after how long a payment that was paid after it was completed."""

    name: str
    refused_seconds: float
    refusals: Counter[str]
    completed_seconds: float

    def __str__(self) -> str:
        refusals = ", ".join(f"{count} × {heard}" for heard, count in self.refusals.items())
        return (
            f"| {self.name} | {self.refused_seconds:.1f} s | {refusals or '–'}"
            f" | {self.completed_seconds:.1f} s |"
        )


def stretch(name: str, killed_at: float, customers: Customers, completed_at: float) -> Stretch:
    answers = customers.answers.copy()
    successes = [answer.at for answer in answers if answer.is_success]
    before = max(at for at in successes if at <= killed_at)
    points = [before, *(at for at in successes if at > killed_at)]
    longest = max(later - earlier for earlier, later in pairwise(points))
    refusals = Counter(
        answer.heard for answer in answers if answer.at > killed_at and not answer.is_success
    )
    return Stretch(name, longest, refusals, completed_at - killed_at)


def completed_at(service: Service, customers: Customers, killed_at: float) -> float:
    """When a payment that was paid after the kill was seen completed."""

    def completed() -> bool:
        mine(service.chain, 1)
        api = Remote(customers.base_url, service.secret)
        later = [key for key, at in customers.sent.copy().items() if at > killed_at][:CALLERS]
        try:
            statuses = [api.detail(key)["status"] for key in later]
        except (requests.RequestException, AssertionError):
            return False
        return "completed" in statuses

    wait_for(completed, bool, RECOVERY_SECONDS)
    return time.monotonic()


def play(names: list[str], say: Callable[[str], None]) -> tuple[list[str], list[Stretch]]:
    """Errors during the kills and after them, and how long each was felt."""
    stack = FailoverStack()
    service = Service(stack)
    stretches = []
    try:
        wait_for(lambda: all(map(answers_at, stack.base_urls)), bool)
        customers = Customers(
            stack.base_urls[0],
            service.secret,
            base_urls=stack.base_urls,
            wallet=DemoWallet(service.chain, CHAIN_KEYS["test"]),
        )
        wait_for(lambda: len(customers.made), lambda number: number >= 4 * CALLERS)
        for name in names:
            killed_at = time.monotonic()
            KILLS[name](service, stack)
            felt = stretch(name, killed_at, customers, completed_at(service, customers, killed_at))
            stretches.append(felt)
            say(str(felt))
            if name == "primary":
                stack.cluster.rebuild()
        customers.stop()
        wait_for(lambda: all(map(answers_at, stack.base_urls)), bool)
        wrong = [*customers.wrong, *lost_or_doubled(service, customers)]
        wrong += [*not_read_from_standby(service), *afterwards(service, customers, say)]
        say(f"{len(customers.sent)} payments, {len(customers.wishes)} payouts")
    finally:
        service.close()
    return [*wrong, *too_long(stretches)], stretches


def too_long(stretches: list[Stretch]) -> list[str]:
    """Only a web process that is killed leaves callers without an answer, which a load balancer
    then gets from another."""
    wrong = [
        f"{felt.name}: nobody was answered for {felt.refused_seconds:.1f} s"
        for felt in stretches
        if felt.refused_seconds > REFUSALS_SECONDS_MAX
    ]
    return wrong + [
        f"{felt.name}: {felt.refusals[NO_CONNECTION]} requests had no answer"
        for felt in stretches
        if felt.refusals[NO_CONNECTION] and felt.name != "web"
    ]


def answers_at(base_url: str) -> bool:
    try:
        return requests.get(f"{base_url}/readyz/web", timeout=10).status_code == 200
    except requests.RequestException:
        return False


def lost_or_doubled(service: Service, customers: Customers) -> list[str]:
    """Every payment that was acknowledged is there and completed by one deposit, once."""

    def unfinished() -> list[str]:
        mine(service.chain, 1)
        return [key for key in customers.sent if service.api.detail(key)["status"] != "completed"]

    wait_for(unfinished, lambda keys: not keys, RECOVERY_SECONDS)
    wrong = []
    for key in customers.sent:
        events = Counter(event["event_type"] for event in service.api.detail(key)["payment_events"])
        counts = (events["payment_intent.completed"], events["transaction.confirmed"])
        if counts != (1, 1):
            wrong.append(f"{key}: completed {counts[0]} times, {counts[1]} deposits")
    return wrong


def not_read_from_standby(service: Service) -> list[str]:
    """The server that is the standby now answers what may be behind."""

    def counted() -> bool:
        service.api("GET", "/payments/summary")
        headers = {"Authorization": f"Bearer {settings.METRICS_TOKEN}"}
        figures = requests.get(f"{service.stack.base_url}/metrics", headers=headers, timeout=30)
        return (
            re.search(r"tillgate_replica_reads_total\{.*server=\"replica\"", figures.text)
            is not None
        )

    try:
        wait_for(counted, bool)
    except AssertionError:
        return ["no read was answered by the standby"]
    return []


def main() -> int:
    import django

    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    django.setup()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that nothing is left running
    print("| killed | nobody answered for | other answers | until a payment was completed |")
    print("|---|---|---|---|", flush=True)
    wrong, _ = play(sys.argv[1:] or list(KILLS), lambda line: print(line, flush=True))
    print("\n".join(wrong) or "nothing was lost or doubled")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
