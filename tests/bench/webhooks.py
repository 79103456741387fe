"""Deliveries per second against a bare aiohttp sender that signs and posts the same bodies, and the
time from commit to receipt.

    .venv/bin/python -m tests.bench.webhooks [rounds]

Receivers run in a process of their own on the same cores; both senders take turns; what counts is
their ratio.
"""

import asyncio
import multiprocessing
import os
import statistics
import subprocess
import sys
import threading
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from multiprocessing.connection import Connection
from typing import Any

import aiohttp
import msgspec
from aiohttp import web

from tests.bench.harness import bench_database, figure, print_table

FAST_ENDPOINTS = 20
SLOW_ENDPOINTS = 25
EVENTS = 100
SLOW_SECONDS = 0.05
HANG_SECONDS = 4.0
LATENCY_EVENTS = 200


def receive(pipe: Connection) -> None:
    """Serve until killed: /fast answers immediately, /slow after 50 ms, /hang after seconds;
    arrivals of /seen are written to the pipe."""
    waits = {"fast": 0.0, "slow": SLOW_SECONDS, "hang": HANG_SECONDS, "seen": 0.0}

    async def handle(request: web.Request) -> web.Response:
        kind = request.match_info["kind"]
        if kind == "seen":
            pipe.send(time.time())
        await request.read()
        if waits[kind]:
            await asyncio.sleep(waits[kind])
        return web.Response(text="ok")

    async def main() -> None:
        app = web.Application()
        app.router.add_post("/{kind}/{number}", handle)
        runner = web.AppRunner(app, access_log=None)
        await runner.setup()
        site = web.TCPSite(runner, "127.0.0.1", 0)
        await site.start()
        pipe.send(site._server.sockets[0].getsockname()[1])  # type: ignore[union-attr]
        await asyncio.Event().wait()

    asyncio.run(main())


@contextmanager
def receivers() -> Iterator[tuple[str, Connection]]:
    """The base address of the receivers, and the pipe that tells arrivals."""
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe()
    process = context.Process(target=receive, args=[theirs], daemon=True)
    process.start()
    try:
        yield f"http://127.0.0.1:{ours.recv()}", ours
    finally:
        process.kill()


class World:
    """One store whose endpoints can be replaced."""

    def __init__(self, base: str) -> None:
        from tests.cast import assemble

        self.base = base
        self.shop = assemble().bakery

    def prepare(self, *kinds: str, events: int = EVENTS) -> None:
        from apps.webhooks.models import Delivery, Endpoint, Event
        from apps.webhooks.requests import EndpointRequest
        from apps.webhooks.services import endpoints

        endpoints.ENDPOINTS_MAX = len(
            kinds
        )  # more than a store may have, which isn't what is measured
        for model in (Delivery, Event, Endpoint):
            model.objects.all().delete()
        access = self.shop.access()
        for number, kind in enumerate(kinds):
            endpoints.register_endpoint(
                access,
                EndpointRequest(
                    url=f"{self.base}/{kind}/{number}", subscribed_events=["payment_intent.created"]
                ),
            )
        for _ in range(events):
            self.happen()

    def happen(self) -> None:
        from apps.core import clock
        from apps.webhooks.events import record
        from apps.webhooks.samples import sample

        type = "payment_intent.created"
        record(
            store_id=self.shop.store.pk,
            mode="test",
            type=type,
            object=sample(type),
            at=clock.real_now(),
        )


def ours(good: str) -> float:
    """Deliveries per second of the product, counted until the last of the good receivers has
    answered."""
    from django.db.models import Max

    from apps.core.clock import real_now
    from apps.webhooks.delivery.dispatcher import drain
    from apps.webhooks.delivery.sender import WebhookSender
    from apps.webhooks.models import Delivery

    started = real_now()
    with WebhookSender() as sender:
        drain(sender)
    done = Delivery.objects.filter(endpoint__url__contains=f"/{good}/", status="delivered")
    last = done.aggregate(last=Max("delivered_at"))["last"]
    return float(done.count() / (last - started).total_seconds())


def bare(base: str, kind: str, count: int, in_flight: int) -> float:
    """The equal number of signed posts without a database."""
    from apps.webhooks import signing
    from apps.webhooks.samples import sample

    object_json = msgspec.json.encode(sample("payment_intent.created")).decode()
    secret = "whsec_" + "ab" * 32
    id = uuid.uuid4()

    async def main() -> float:
        left = iter(range(count))
        async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0)) as session:

            async def work(number: int) -> None:
                for _ in left:
                    raw = signing.body(
                        event_id=id,
                        type="x",
                        created=0,
                        is_live=False,
                        api_version="",
                        account_id=None,
                        object_json=object_json,
                    )
                    headers = signing.signatures(secret, id, raw, 1)
                    async with session.post(
                        f"{base}/{kind}/{number}", data=raw, headers=headers
                    ) as response:
                        await response.read()

            started = time.perf_counter()
            await asyncio.gather(*(work(number) for number in range(in_flight)))
            return count / (time.perf_counter() - started)

    return asyncio.run(main())


def latencies(world: World, pipe: Connection) -> list[float]:
    """Milliseconds from commit to the receiver's first line of code, through Redis and a Celery
    worker."""
    from django.db import connection

    settings = connection.settings_dict
    user = settings["USER"] or "postgres"
    host = settings["HOST"] or settings["OPTIONS"].get("host", "")
    url = f"postgresql://{user}@/{settings['NAME']}?host={host}"
    worker = subprocess.Popen(
        [
            sys.executable,
            "-m",
            "celery",
            "-A",
            "config.celery",
            "worker",
            "-P",
            "threads",
            "-c",
            "2",
            "-l",
            "error",
        ],
        env={
            **os.environ,
            "DATABASE_URL": os.environ.get("BENCH_DATABASE_URL", url),
            "WEBHOOK_ALLOW_HOSTS": "127.0.0.1",
        },
        stdout=subprocess.DEVNULL,
    )
    try:
        world.prepare("seen", events=0)
        world.happen()
        if not pipe.poll(60):
            raise RuntimeError("the worker delivers nothing")
        pipe.recv()
        taken = []
        for _ in range(LATENCY_EVENTS):
            threading.Event().wait(0.02)
            world.happen()
            committed = time.time()
            taken.append((pipe.recv() - committed) * 1000)
        return taken
    finally:
        worker.terminate()
        worker.wait(20)


def main(rounds: int) -> None:
    from django.test.utils import override_settings

    rates: dict[str, list[float]] = {
        "fast": [],
        "fast bare": [],
        "slow": [],
        "slow bare": [],
        "beside a hanging one": [],
    }
    with receivers() as (base, pipe), override_settings(WEBHOOK_ALLOW_HOSTS=["127.0.0.1"]):
        world = World(base)
        for _ in range(rounds):
            world.prepare(*["fast"] * FAST_ENDPOINTS)
            rates["fast"].append(ours("fast"))
            rates["fast bare"].append(
                bare(base, "fast", FAST_ENDPOINTS * EVENTS, FAST_ENDPOINTS * 2)
            )
            world.prepare("hang", *["fast"] * FAST_ENDPOINTS)
            from apps.webhooks.models import Delivery

            hanging = Delivery.objects.filter(endpoint__url__contains="/hang/")
            hanging.filter(pk__in=hanging.values_list("pk")[4:]).delete()
            rates["beside a hanging one"].append(ours("fast"))
            world.prepare(*["slow"] * SLOW_ENDPOINTS, events=40)
            rates["slow"].append(ours("slow"))
            rates["slow bare"].append(bare(base, "slow", SLOW_ENDPOINTS * 40, SLOW_ENDPOINTS * 2))
        taken = latencies(world, pipe)
    told(rates, taken)


def told(rates: dict[str, list[float]], taken: list[float]) -> None:
    def ratio(a: str, b: str) -> str:
        return f"{statistics.median(x / y for x, y in zip(rates[a], rates[b], strict=True)):.2f}"

    rows: list[tuple[Any, ...]] = [
        (name, f"{statistics.median(values):.0f}/s") for name, values in rates.items()
    ]
    rows += [
        ("fast, of bare aiohttp", ratio("fast", "fast bare")),
        ("50 ms receivers, of bare aiohttp", ratio("slow", "slow bare")),
        ("others beside one that hangs, of without", ratio("beside a hanging one", "fast")),
        ("commit to receipt, p50", f"{statistics.median(taken):.1f} ms"),
        ("commit to receipt, p99", f"{statistics.quantiles(taken, n=100)[98]:.1f} ms"),
    ]
    print_table(["webhooks", "result"], [[str(cell) for cell in row] for row in rows])
    figure("webhooks, receivers that answer at once", float(ratio("fast", "fast bare")))
    figure("webhooks, 50 ms receivers", float(ratio("slow", "slow bare")))
    figure("webhooks, commit to receipt, p99, ms", statistics.quantiles(taken, n=100)[98])


if __name__ == "__main__":
    with bench_database():
        main(int(sys.argv[1]) if len(sys.argv) > 1 else 3)
