"""A server of its own, and eight connections that ask it without a pause: what the benchmarks of
whole requests share.

Servers run beside each other on the test database; rounds ask them in turns, so that what counts is
their ratio.
"""

import asyncio
import os
import statistics
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

CONNECTIONS = 8
SECONDS = 2.0
WORKERS = 2
ROOT = Path(__file__).resolve().parents[2]


@dataclass
class Contender:
    """A server under load: its address, and the bytes of its requests. `rates` and `times` (ms) are
    filled round by round."""

    name: str
    port: int
    request: bytes
    wanted: int = 200
    rates: list[float] = field(default_factory=list)
    times: list[float] = field(default_factory=list)

    @property
    def p50(self) -> float:
        return statistics.median(self.times)

    @property
    def p99(self) -> float:
        return sorted(self.times)[int(len(self.times) * 0.99)]

    def row(self, baseline: "Contender") -> list[str]:
        ratio = statistics.median(
            ours / theirs for ours, theirs in zip(self.rates, baseline.rates, strict=True)
        )
        rate = statistics.median(self.rates)
        return [
            self.name,
            f"{rate:,.0f}/s",
            f"{self.p50:.1f} ms",
            f"{self.p99:.1f} ms",
            f"{self.p99 / self.p50:.1f}",
            f"{ratio:.2f}",
        ]


def request_of(method: str, path: str, key: str, body: bytes = b"") -> bytes:
    head = [f"{method} {path} HTTP/1.1", "Host: localhost", f"Authorization: Bearer {key}"]
    head += ["Content-Type: application/json", f"Content-Length: {len(body)}"] if body else []
    return "\r\n".join([*head, "", ""]).encode() + body


@contextmanager
def serving(
    *command: str, port: int, role: str = "", log: int = subprocess.DEVNULL
) -> Iterator["subprocess.Popen[bytes]"]:
    """A server process on the test database; `{port}` in the command is its port. It comes in as
    the role, or as the tests do, and writes its log to that descriptor."""
    process = subprocess.Popen(
        [item.format(port=port) for item in command],
        cwd=ROOT,
        env=environment(role),
        stdout=log,
    )
    try:
        _wait_until_it_answers(port, process)
        yield process
    finally:
        process.terminate()
        process.wait(timeout=40)


def product(target: str, threads: int = 4, workers: int = WORKERS) -> list[str]:
    """Processes of the server that production has, with as many threads each."""
    options = [
        "--interface",
        "asginl",
        "--host",
        "127.0.0.1",
        "--port",
        "{port}",
        "--workers",
        str(workers),
        "--workers-kill-timeout",
        "25",
        "--log-level",
        "error",
    ]
    return ["env", f"WEB_THREADS={threads}", sys.executable, "-m", "granian", *options, target]


def environment(role: str = "") -> dict[str, str]:
    """The servers read the same database as this process, which is the tests'."""
    from django.db import connection

    settings = connection.settings_dict
    host = settings["HOST"] or settings["OPTIONS"].get("host", "")
    user = role or settings["USER"] or "postgres"
    password = settings["PASSWORD"] or ""
    name = settings["NAME"]
    url = f"postgresql://{user}:{password}@/{name}?host={host}"
    if host and not host.startswith("/"):
        url = f"postgresql://{user}:{password}@{host}:{settings['PORT'] or 5432}/{name}"
    return {**os.environ, "DATABASE_URL": url, "PYTHONPATH": str(ROOT), "REQUEST_LOG_DAYS": "30"}


def _wait_until_it_answers(port: int, process: "subprocess.Popen[bytes]") -> None:
    for _ in range(1200):
        if process.poll() is not None:
            raise SystemExit("a server did not start")
        try:
            urllib.request.urlopen(
                f"http://127.0.0.1:{port}/nothing", timeout=5
            ).close()  # our own address
            return
        except urllib.error.HTTPError:
            return
        except OSError:
            time.sleep(0.1)
    raise SystemExit("a server does not answer")


def measure(contenders: Sequence[Contender], rounds: int) -> None:
    """Ask each in turn, after a warm-up that is not counted."""
    for contender in contenders:
        asyncio.run(_ask(contender, 1.0))
    for _ in range(rounds):
        for contender in contenders:
            begin = time.perf_counter()
            times = asyncio.run(_ask(contender, SECONDS))
            contender.rates.append(len(times) / (time.perf_counter() - begin))
            contender.times += times


async def _ask(one: Contender, seconds: float) -> list[float]:
    until = time.perf_counter() + seconds
    return [
        taken
        for times in await asyncio.gather(*(_connection(one, until) for _ in range(CONNECTIONS)))
        for taken in times
    ]


async def _connection(one: Contender, until: float) -> list[float]:
    reader, writer = await asyncio.open_connection("127.0.0.1", one.port)
    times = []
    while (begin := time.perf_counter()) < until:
        writer.write(one.request)
        head = await reader.readuntil(b"\r\n\r\n")
        await reader.readexactly(length_of(head))
        times.append((time.perf_counter() - begin) * 1000)
        if int(head[9:12]) != one.wanted:
            raise SystemExit(f"{one.name} answered {head[:60]!r}")
    writer.close()
    return times


def length_of(head: bytes) -> int:
    _, _, rest = head.lower().partition(b"content-length:")
    return int(rest.partition(b"\r\n")[0])
