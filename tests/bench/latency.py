"""How soon after its block a payment on an EVM network is on the customer's page and at the shop's
webhook, with many checkouts open; beside it, in the same run, without announced blocks.

    .venv/bin/python -m tests.bench.latency [checkouts] [payments]

A demo of its own reads an anvil that mines each transaction by itself, and one more block every two
seconds. The open checkouts wait for news as browsers do. The time runs from the node's answer,
when the block is there, to the page that says so, asked for again upon the news, and to the webhook
payment_intent.processing. Nodes are asked every four seconds, which is the default of production.

The page of the other side looks again every two and a half seconds, as that of EVM networks did
before blocks were announced; the open checkouts beside it load the server no more than those of the
first side.
"""

import asyncio
import random
import statistics
import sys
import threading
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any

import aiohttp
import requests

from tests.bench.harness import chain_program, figure, print_table
from tests.stack import Demo, Remote

CHECKOUTS = 1_000
PAYMENTS = 40
POLL_SECONDS = "4"
BLOCK_SECONDS = 2.0
OLD_LOOK_SECONDS = 2.5
LATE_SECONDS = 30.0
WARM_SECONDS = 180.0
PAGES_A_CLIENT = 50  # of one address: a service limits those
UNSAID = 'data-status="pending"'
# Where the first comes late, both come together.
NEWS = ["payment_intent.processing", "payment_intent.completed"]
GOALS = {"page": 1.0, "webhook": 1.2}


@dataclass
class Side:
    name: str
    page: list[float] = field(default_factory=list)
    webhook: list[float] = field(default_factory=list)


def percentile(values: list[float], share: float) -> float:
    return sorted(values)[min(len(values) - 1, int(len(values) * share))]


def made(api: Remote) -> dict[str, Any]:
    """A payment; one that is too much for the moment is asked for again."""
    while True:
        answer = api.session.post(
            f"{api.base_url}/api/v2/payments",
            json={"payment_intent": {"amount": "10.00", "currency": "EUR"}},
            timeout=60,
        )
        if answer.status_code != 429:
            answer.raise_for_status()
            document: dict[str, Any] = answer.json()
            return document
        time.sleep(1)


def way_of(payment: dict[str, Any]) -> tuple[str, int]:
    """Where to send the network's own coin, and how much."""
    [way] = [
        each
        for each in payment["payment_addresses"]
        if each["supported_asset"]["asset_id"] == "SETH"
    ]
    return way["address"], int(way["crypto_amount_atomic"])


class Pages:
    """Checkouts that are open, each as a browser has it: a request for news, and after each answer
    the next."""

    def __init__(self, base_url: str) -> None:
        self.base_url = base_url
        self.sessions: list[aiohttp.ClientSession] = []
        self.failed = 0
        self._tasks: list[asyncio.Task[None]] = []

    async def open(self, references: list[str]) -> None:
        for start in range(0, len(references), PAGES_A_CLIENT):
            address = f"127.0.1.{start // PAGES_A_CLIENT + 1}"
            connector = aiohttp.TCPConnector(limit=0, local_addr=(address, 0))
            timeout = aiohttp.ClientTimeout(total=60)
            session = aiohttp.ClientSession(connector=connector, timeout=timeout)
            self.sessions.append(session)
            for reference in references[start : start + PAGES_A_CLIENT]:
                self._tasks.append(asyncio.create_task(self._stay(session, reference)))

    async def close(self) -> None:
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        for session in self.sessions:
            await session.close()

    async def news(self, session: aiohttp.ClientSession, reference: str, since: str) -> str:
        """A server that is too busy is asked again a second later, as by a browser."""
        url = f"{self.base_url}/pay/{reference}/pulse"
        async with session.get(url, params={"since": since}) as answer:
            if answer.status == 200:
                return await answer.text()
        self.failed += 1
        await asyncio.sleep(1)
        return since

    async def page(self, session: aiohttp.ClientSession, reference: str) -> str:
        url = f"{self.base_url}/pay/{reference}?asset=SETH"
        async with session.get(url, headers={"HX-Request": "true"}) as answer:
            answer.raise_for_status()
            return await answer.text()

    async def _stay(self, session: aiohttp.ClientSession, reference: str) -> None:
        since = ""
        await asyncio.sleep(random.uniform(0, 20))  # not all are opened in one moment
        while True:
            try:
                since = await self.news(session, reference, since)
            except (aiohttp.ClientError, TimeoutError):
                self.failed += 1
            await asyncio.sleep(1)


class Node:
    """The node, which a customer's wallet sends to, and its blocks."""

    def __init__(self, program: str) -> None:
        from tests.chain.local import LocalChain

        self.chain = LocalChain(program, "--gas-limit", "30000000")
        self.url = self.chain.url
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._mine, daemon=True)
        self._thread.start()

    def pay(self, address: str, amount_atomic: int) -> None:
        """Returns as soon as the block is there."""
        self.chain.pay(address, amount_atomic)

    def close(self) -> None:
        self._ended.set()
        self._thread.join()
        self.chain.close()

    def _mine(self) -> None:
        session = requests.Session()
        asked = {"jsonrpc": "2.0", "id": 1, "method": "anvil_mine", "params": ["0x1"]}
        while not self._ended.wait(BLOCK_SECONDS):
            session.post(self.url, json=asked, timeout=60)


async def until_said(
    pages: Pages, session: aiohttp.ClientSession, reference: str, since: str
) -> float:
    """When the page said so that waits for news."""
    while UNSAID in await pages.page(session, reference):
        since = await pages.news(session, reference, since)
    return time.perf_counter()


async def until_looked(
    pages: Pages, session: aiohttp.ClientSession, reference: str, _: str
) -> float:
    """When the page said so that looks by the clock, from any moment on."""
    await asyncio.sleep(random.uniform(0, OLD_LOOK_SECONDS))
    while UNSAID in await pages.page(session, reference):
        await asyncio.sleep(OLD_LOOK_SECONDS)
    return time.perf_counter()


Until = Callable[[Pages, aiohttp.ClientSession, str, str], Awaitable[float]]


async def measure(
    side: Side, pages: Pages, node: Node, hooks: dict[str, float], payments: list[Any], until: Until
) -> None:
    async with aiohttp.ClientSession() as session:
        for payment in payments:
            reference = payment["reference"]
            since = ""
            while not since:
                since = await pages.news(session, reference, "")
            await asyncio.sleep(random.uniform(0.5, 2.5))
            waiting = asyncio.create_task(_until(until, pages, session, reference, since))
            await asyncio.sleep(0.3)
            await asyncio.to_thread(node.pay, *way_of(payment))
            mined_at = time.perf_counter()
            side.page.append(await waiting - mined_at)
            while payment["id"] not in hooks:
                if time.perf_counter() - mined_at > LATE_SECONDS:
                    raise AssertionError(f"no webhook after {LATE_SECONDS:.0f} s")
                await asyncio.sleep(0.01)
            side.webhook.append(hooks[payment["id"]] - mined_at)


async def _until(
    until: Until, pages: Pages, session: aiohttp.ClientSession, reference: str, since: str
) -> float:
    async with asyncio.timeout(LATE_SECONDS):
        return await until(pages, session, reference, since)


async def run(demo: Demo, node: Node, relay: Any, checkouts: int, count: int) -> list[Side]:
    from tests.webhooks.receivers import Receiver

    api = Remote(demo.info["base_url"], demo.info["store"]["keys"]["test"]["secret"])
    hooks: dict[str, float] = {}

    class Timed(Receiver):
        def heard(self) -> None:
            at = time.perf_counter()
            raw = self.requests[-1]["raw"].decode()
            for payment in measured:
                if payment["id"] in raw:
                    hooks.setdefault(payment["id"], at)

    measured: list[dict[str, Any]] = []
    receiver = Timed()
    endpoint = {"url": receiver.url, "subscribed_events": NEWS}
    api("POST", "/webhook_endpoints", {"webhook_endpoint": endpoint})
    print(f"{checkouts} checkouts are opened", flush=True)
    references = [(await asyncio.to_thread(made, api))["reference"] for _ in range(checkouts)]
    pages = Pages(api.base_url)
    await pages.open(references)
    await asyncio.sleep(25)
    for _ in range(2):  # a demo that has just begun has other work first
        payment = await asyncio.to_thread(made, api)
        await asyncio.to_thread(node.pay, *way_of(payment))
        await asyncio.to_thread(api.until, payment["id"], "completed", WARM_SECONDS)
    sides = [Side("blocks announced"), Side("polled every 4 s")]
    try:
        for side, until in zip(sides, (until_said, until_looked), strict=True):
            payments = [await asyncio.to_thread(made, api) for _ in range(count)]
            measured += payments
            await measure(side, pages, node, hooks, payments, until)
            relay.is_away = True
            relay.cut()
    finally:
        await pages.close()
        receiver.close()
    if pages.failed:
        print(f"{pages.failed} requests for news failed")
    return sides


def main() -> None:
    checkouts = int(sys.argv[1]) if len(sys.argv) > 1 else CHECKOUTS
    count = int(sys.argv[2]) if len(sys.argv) > 2 else PAYMENTS
    program = chain_program()
    import os

    import django

    from dev import embedded

    os.environ.setdefault("TILLGATE_ENV", "test")
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    embedded.ensure((embedded.POSTGRES, embedded.REDIS), mode=embedded.TEST)
    django.setup()
    from tests.chain.relay import Relay

    node = Node(program)
    relay = Relay(node.url)
    demo = Demo(
        {
            "CHAIN_SEPOLIA_URL": node.url,
            "CHAIN_SEPOLIA_WS_URL": relay.url,
            "CHAIN_POLL_SECONDS": POLL_SECONDS,
        }
    )
    try:
        sides = asyncio.run(run(demo, node, relay, checkouts, count))
    finally:
        demo.stop()
        relay.close()
        node.close()
    rows = []
    for side in sides:
        for kind in ("page", "webhook"):
            took = getattr(side, kind)
            rows.append(
                [
                    f"block to {kind}, {side.name}",
                    f"{statistics.median(took):.2f}",
                    f"{percentile(took, 0.95):.2f}",
                    f"{max(took):.2f}",
                ]
            )
    print_table([f"{count} payments, s", "median", "p95", "worst"], rows)
    for kind in GOALS:
        figure(f"block to {kind}, p95, s", percentile(getattr(sides[0], kind), 0.95))


if __name__ == "__main__":
    main()
