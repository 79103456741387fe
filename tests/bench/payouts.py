"""Cost of a payout from its request to the chain, and of reading a balance while others post.

    .venv/bin/python -m tests.bench.payouts [payouts a round]

First the stages one after the other in this process, then what a user feels: POST /payouts to a
server of its own while a worker hands over, signs and broadcasts, from the first request to the
last broadcast. The bare loop signs the same transfers and hands them to the same node in the same
rounds; the bare read is the same statement by psycopg.
"""

import asyncio
import json
import os
import signal
import statistics
import subprocess
import sys
import threading
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from dev.ports import free_port
from tests.bench.harness import bench_database, chain_program, figure, print_table
from tests.bench.load import (
    CONNECTIONS,
    ROOT,
    environment,
    length_of,
    product,
    request_of,
    serving,
)

ROUNDS = 5
LANES = 4
READS = 300
POSTERS = 2
AMOUNT = 10**15
ETHER = 10**18
STAGES = ("reserved", "handed over", "signed", "broadcast")


def timed(work: Callable[[], Any]) -> float:
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


def until_none(step: Callable[[], int]) -> None:
    while step():
        pass


def in_lanes(lanes: int, count: int, work: Callable[[], Any]) -> None:
    """The work so many times, divided among threads with connections of their own."""
    from django.db import connection

    def run() -> None:
        for _ in range(count // lanes):
            work()
        if lanes > 1:
            connection.close()

    if lanes == 1:
        run()
        return
    threads = [threading.Thread(target=run) for _ in range(lanes)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


class Lane:
    """A chain with the hot wallet on it, a store with coins, and a stranger with a key for the bare
    loop."""

    def __init__(self) -> None:
        from django.conf import settings
        from eth_account import Account

        from apps.assets.models import Chain
        from apps.chain.keys.seeds import Seed
        from apps.chain.sending import signing_rounds
        from apps.core.process.published_secrets import DEMO_MNEMONIC
        from tests import make
        from tests.cast import person, shop_of
        from tests.chain.local import LocalChain

        self.chain = LocalChain(chain_program())
        self.stranger = Account.create()
        settings.CHAIN_URLS = {"sepolia": [self.chain.url]}
        Chain.objects.filter(pk="sepolia").update(required_confirmations=1)
        for address in (Seed(DEMO_MNEMONIC).hot_key("test").address, self.stranger.address):
            self.chain.call("anvil_setBalance", address, hex(1000 * ETHER))
        signing_rounds.introduce()
        self.shop = shop_of(person("alice"), "Bench")
        make.store_coins(self.shop.store, "SETH", 500 * ETHER)
        self.access = self.shop.access("test")
        self.checks: list[
            tuple[float, float]
        ] = []  # of each round: seconds a payout, and of all that signing took
        self.chain.call("evm_setAutomine", False)

    def ask(self) -> None:
        from apps.payouts.requests import PayoutRequest, RawAddress
        from apps.payouts.services.create import create_payout
        from tests import make

        asked = PayoutRequest("SETH", AMOUNT, RawAddress(make.fresh_address()))
        create_payout(self.access, asked, uuid.uuid4().hex, caller="bench")

    def pay_out(self, count: int, lanes: int) -> list[float]:
        """Seconds of each stage for so many payouts; afterwards they are confirmed and booked."""
        from apps.chain.models import OutgoingTransaction
        from apps.chain.sending import approvals, sender, signing_rounds
        from apps.payouts.services.progress import advance_payouts

        taken = [timed(lambda: in_lanes(lanes, count, self.ask)), timed(advance_payouts)]
        waiting = list(OutgoingTransaction.objects.filter(purpose="payout", status="requested"))
        checked = timed(lambda: approvals.refusals(waiting))
        taken += [timed(lambda: until_none(signing_rounds.sign_due)), timed(sender.run_due)]
        self.checks.append((2 * checked / count, 2 * checked / taken[2]))
        sent = OutgoingTransaction.objects.filter(purpose="payout", status="submitted")
        if sent.count() != count:
            raise SystemExit(f"{sent.count()} of {count} payouts were broadcast")
        self.chain.mine(3)
        sender.run_due()
        advance_payouts()
        return taken

    def bare(self, count: int) -> float:
        """Seconds of signing and sending the same transfers one after the other, over one open
        connection."""
        from contextlib import closing

        from apps.assets.models import Chain
        from apps.chain.nodes import nodes_of
        from tests import make

        first = int(self.chain.call("eth_getTransactionCount", self.stranger.address, "latest"), 16)
        shape = {
            "type": 2,
            "chainId": 11155111,
            "value": AMOUNT,
            "gas": 21000,
            "maxFeePerGas": 10**11,
            "maxPriorityFeePerGas": 10**9,
        }

        def send() -> None:
            for nonce in range(first, first + count):
                one = self.stranger.sign_transaction(
                    {**shape, "nonce": nonce, "to": bytes.fromhex(make.fresh_address()[2:])}
                )
                nodes.call("eth_sendRawTransaction", ["0x" + bytes(one.raw_transaction).hex()])

        with closing(nodes_of(Chain.objects.get(pk="sepolia"))) as nodes:
            taken = timed(send)
        self.chain.mine(1)
        return taken


def bench_whole(lane: Lane, count: int) -> None:
    """POST /payouts by eight connections, and the worker's processes: payouts a second from the
    first request to the last broadcast."""
    from apps.chain.models import SignedTransaction

    found = []
    waited = []
    bare = []
    with whole_service(lane) as port:
        for number in range(ROUNDS + 1):  # the first warms up
            began_real = clock_now()
            began = time.perf_counter()
            asyncio.run(post_payouts(port, lane.shop.secrets["test"], count))
            asked = time.perf_counter() - began
            sent = SignedTransaction.objects.filter(
                signed_at__gt=began_real, broadcast_at__isnull=False
            )
            while sent.count() < count:
                if time.perf_counter() - began > 120:
                    raise SystemExit(f"{sent.count()} of {count} payouts were broadcast")
                time.sleep(0.02)
            taken = time.perf_counter() - began
            lane.chain.mine(3)
            settle(lane)
            if number:
                found.append(count / taken)
                waited.append((count / asked, taken - asked))
                bare.append(count / lane.bare(count))
    rows = [
        ["answered", f"{statistics.median(rate for rate, _ in waited):,.0f}/s", ""],
        ["after the last answer", f"{statistics.median(rest for _, rest in waited):.2f} s", ""],
        [
            "request to broadcast",
            f"{statistics.median(found):,.0f}/s",
            f"{statistics.median(a / b for a, b in zip(found, bare, strict=True)):.2f}",
        ],
        ["bare loop", f"{statistics.median(bare):,.0f}/s", "1.00"],
    ]
    print_table(["over HTTP, with a worker", "payouts", "of the bare loop"], rows)
    figure("payouts over HTTP, request to broadcast", float(rows[2][2]))


def clock_now() -> Any:
    from apps.core import clock

    return clock.real_now()


def settle(lane: Lane) -> None:
    """Until the worker has booked what was mined."""
    from apps.core import jobs
    from apps.payouts.models import Payout

    began = time.perf_counter()
    while (
        Payout.objects.filter(status__in=["pending", "submitted"]).exists()
        and time.perf_counter() - began < 60
    ):
        for name in ("chain.send", "payouts.advance"):
            jobs.nudge(name, mode="test")
        time.sleep(0.2)


@contextmanager
def whole_service(lane: Lane) -> Iterator[int]:
    """The web server and a worker, on the bench's database and chain; the server's port."""
    from django.db import connection

    os.environ["CHAIN_SEPOLIA_URL"] = lane.chain.url
    command = [
        "celery",
        "--quiet",
        "-A",
        "config.celery",
        "worker",
        "--concurrency",
        "1",
        "--loglevel",
        "ERROR",
        "--without-gossip",
    ]
    worker = subprocess.Popen(
        [sys.executable, "-m", *command, "--without-mingle"], cwd=ROOT, env=environment()
    )
    port = free_port()
    try:
        with serving(*product("tests.bench.server:application"), port=port):
            yield port
    finally:
        worker.terminate()
        worker.wait(timeout=30)
        connection.close()


async def post_payouts(port: int, key: str, count: int) -> None:
    from tests import make

    async def connection(number: int) -> None:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        for _ in range(number):
            body = {
                "asset_id": "SETH",
                "amount_atomic": str(AMOUNT),
                "destination_address": make.fresh_address(),
            }
            request = request_of("POST", "/api/v2/payouts", key, json.dumps(body).encode())
            writer.write(
                request.replace(b"\r\n", f"\r\nIdempotency-Key: {uuid.uuid4().hex}\r\n".encode(), 1)
            )
            head = await reader.readuntil(b"\r\n\r\n")
            answer = await reader.readexactly(length_of(head))
            if int(head[9:12]) != 201:
                raise SystemExit(f"POST /payouts answered {head[:60]!r} {answer[:200]!r}")
        writer.close()

    await asyncio.gather(*(connection(count // CONNECTIONS) for _ in range(CONNECTIONS)))


def bench_payouts(lane: Lane, count: int) -> None:
    figures: dict[int, list[tuple[list[float], float]]] = {1: [], LANES: []}
    lane.pay_out(LANES, 1)
    for _ in range(ROUNDS):
        for lanes, found in figures.items():
            found.append((lane.pay_out(count, lanes), lane.bare(count)))
    rows = []
    for lanes, found in figures.items():
        for number, stage in enumerate(STAGES):
            rows.append(
                [
                    str(lanes),
                    stage,
                    f"{count / statistics.median(taken[number] for taken, _ in found):,.0f}/s",
                    "",
                ]
            )
        ratio = statistics.median(bare / sum(taken) for taken, bare in found)
        last = statistics.median(bare / (taken[2] + taken[3]) for taken, bare in found)
        rows.append(
            [
                str(lanes),
                "all",
                f"{count / statistics.median(sum(taken) for taken, _ in found):,.0f}/s",
                f"{ratio:.2f}",
            ]
        )
        rows.append([str(lanes), "signed and broadcast", "", f"{last:.2f}"])
    rows.append(
        [
            "",
            "bare loop",
            f"{count / statistics.median(bare for _, bare in figures[1]):,.0f}/s",
            "1.00",
        ]
    )
    print_table(["lanes", "stage", "payouts", "of the bare loop"], rows)
    each, share = (statistics.median(column) for column in zip(*lane.checks, strict=True))
    print(
        f"\napprovals and the books, which the signer asks twice: {each * 1e6:.0f} µs a payout,"
        f" {share * 100:.1f} % of signing\n"
    )


@contextmanager
def posters(lane: Lane) -> Iterator[None]:
    """Processes that post to the store's accounts as fast as they can."""
    from django.db import connection, connections

    connections.close_all()
    children = []
    for _ in range(POSTERS):
        pid = os.fork()
        if pid == 0:
            while True:
                lane.ask()
        children.append(pid)
    try:
        yield
    finally:
        for pid in children:
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)
        connection.close()


def bench_balances(lane: Lane) -> None:
    from apps.ledger.selectors import balances
    from tests.cast import Api

    api = Api(lane.shop.secrets["test"])
    store_id = lane.shop.store.pk

    def read(work: Callable[[], Any]) -> list[float]:
        work()
        return sorted(timed(work) * 1000 for _ in range(READS))

    def both() -> tuple[list[float], list[float]]:
        return read(lambda: api.get("/balances")), read(lambda: balances(store_id, "test"))

    rows = []
    quiet = both()
    with posters(lane):
        busy = both()
    for name, (door, bare) in (("nobody posts", quiet), (f"{POSTERS} processes post", busy)):
        ratio = statistics.median(bare) / statistics.median(door)
        rows.append(
            [
                name,
                *(
                    f"{item[len(item) // 2]:.2f} / {item[int(len(item) * 0.99)]:.2f} ms"
                    for item in (door, bare)
                ),
                f"{ratio:.2f}",
            ]
        )
    print_table(["while", "GET /balances p50 / p99", "its statement p50 / p99", "ratio"], rows)


def main(count: int) -> None:
    with bench_database():
        from django.conf import settings

        settings.LIMITS = {
            name: dict.fromkeys(modes, (10**7, 10**6)) for name, modes in settings.LIMITS.items()
        }
        lane = Lane()
        try:
            bench_payouts(lane, count)
            bench_whole(lane, count // CONNECTIONS * CONNECTIONS)
            bench_balances(lane)
        finally:
            lane.chain.close()


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 100)
