"""`watch_chains` as a process: killed anywhere it goes on exactly, asked to stop it stops, and a
node that is away is waited for."""

import contextlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from django.db import connection

from apps.chain.models import Deposit, Head
from tests import make, postgres
from tests.chain.conftest import make_address
from tests.chain.local import LocalChain
from tests.chain.proxy import Proxy
from tests.chain.test_deposits import blocks_are_linked
from tests.whole import usually

pytestmark = pytest.mark.chain
ROOT = Path(__file__).parents[2]
# Ten blocks each; after how many blocks it is killed.
DEPOSITS = usually(short=12, whole=40)
SHARES = usually(short=(30,), whole=(60, 150, 290))
DELAY_SECONDS = usually(short=0.03, whole=0.015)
RUN = (
    "import sys; from django.core.management import execute_from_command_line as run;"
    " sys.argv = ['manage.py', 'watch_chains']; run(sys.argv)"
)


class Process:
    """watch_chains on the test database, which it sees only what is committed of."""

    def __init__(self, log: Path) -> None:
        self.log = log
        self.environment = {
            **os.environ,
            **postgres.environment(),
            "CHAIN_START_BLOCK_SEPOLIA": "0",
            "CHAIN_POLL_SECONDS": "0.05",
            "TILLGATE_ENV": "test",
        }
        self.running: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        with self.log.open("ab") as log:
            self.running = subprocess.Popen(
                [sys.executable, "-c", RUN], env=self.environment, cwd=ROOT, stdout=log, stderr=log
            )

    def end(self, how: int) -> None:
        """Send the signal and wait until the process is gone."""
        assert self.running is not None
        self.running.send_signal(how)
        self.running.wait(60)


def until(happened: Callable[[], bool], process: Process) -> None:
    deadline = time.monotonic() + 90
    while not happened():
        assert time.monotonic() < deadline, process.log.read_text()
        assert process.running is not None
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.running.wait(0.05)
            pytest.fail(process.log.read_text())


def head_number() -> int:
    head = Head.objects.filter(chain_id="sepolia").first()
    return -1 if head is None else head.number


@pytest.fixture
def process(committed: None, tmp_path: Path) -> Iterator[Process]:
    found = Process(tmp_path / "log")
    yield found
    if found.running is not None and found.running.poll() is None:
        found.end(signal.SIGKILL)


def test_a_watcher_that_is_killed_again_and_again_loses_and_doubles_nothing(
    chain: LocalChain, proxy: Proxy, process: Process
) -> None:
    address = make_address()
    for place in range(DEPOSITS):
        chain.pay(address, 1 + place)
        chain.mine(9)
    # It is killed before it is at the end, however busy the machine is.
    proxy.delay_seconds = DELAY_SECONDS
    process.environment["CHAIN_SEPOLIA_URL"] = proxy.url
    for share in SHARES:
        process.start()
        until(lambda share=share: head_number() >= share, process)  # type: ignore[misc]
        process.end(signal.SIGKILL)
        assert head_number() < chain.height
        blocks_are_linked()
        if share != SHARES[-1]:
            make.leases_end()  # the last one's turn is waited for
    process.environment["CHAIN_SEPOLIA_URL"] = chain.url
    process.start()
    until(lambda: head_number() == chain.height, process)
    assert sorted(
        deposit.amount_atomic for deposit in Deposit.objects.filter(status="confirmed")
    ) == list(range(1, DEPOSITS + 1))
    blocks_are_linked()


@pytest.mark.alone
def test_it_goes_on_when_its_connections_were_cut_and_stops_in_time_while_a_node_hangs(
    chain: LocalChain, process: Process
) -> None:
    address = make_address()
    process.environment["CHAIN_SEPOLIA_URL"] = chain.url
    process.start()
    until(lambda: head_number() == chain.height, process)
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname ="
            " current_database() AND pid <> pg_backend_pid()"
        )
    make.leases_end()  # its turn, which its new connection waits for
    chain.pay(address, 10)
    chain.mine(3)
    until(lambda: Deposit.objects.filter(status="confirmed").exists(), process)
    until(lambda: head_number() == chain.height, process)
    blocks_are_linked()

    chain.process.send_signal(signal.SIGSTOP)
    process.end(signal.SIGTERM)
    assert process.running is not None and process.running.returncode == 0


@pytest.mark.alone
def test_without_any_chain_it_says_so_once_and_idles(process: Process) -> None:
    process.environment |= {
        name: ""
        for name in process.environment
        if name.startswith("CHAIN_") and name.endswith("_URL")
    }
    process.start()
    until(lambda: process.log.exists() and "watching" in process.log.read_text(), process)
    assert process.log.read_text().count("no_chain_configured") == 1
    process.end(signal.SIGTERM)
