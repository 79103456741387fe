"""Behind a real PgBouncer in transaction mode: turns have one holder, long lists are whole, and
nobody's settings are another's."""

import getpass
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest
from django.db import connection

from dev import bootstrap

pytestmark = [pytest.mark.pooler, pytest.mark.django_db]
ROOT = Path(__file__).parents[2]
POOL = 5
BEGIN = """
import threading, time
import django; django.setup()
from concurrent.futures import ThreadPoolExecutor
from django.db import connection, connections

def together(work, times):
    def one(number):
        try:
            return work(number)
        finally:
            connections.close_all()
    with ThreadPoolExecutor(times) as pool:
        return list(pool.map(one, range(times)))

def ask(text):
    with connection.cursor() as cursor:
        cursor.execute(text)
        return cursor.fetchall()
"""


class Pooler:
    """PgBouncer before the test's database, with fewer connections than it has clients."""

    def __init__(self, folder: Path) -> None:
        parts = urlsplit(os.environ["DATABASE_URL"])
        host = str(parse_qs(parts.query).get("host", [parts.hostname])[0])
        name = connection.settings_dict["NAME"]
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = probe.getsockname()[1]
        user = parts.username or getpass.getuser()
        lines = [
            "[databases]",
            (
                f"{name} = host={host} port={parts.port or 5432} user={user} dbname={name}"
                " connect_query='SET synchronous_commit TO on'"
            ),
            "[pgbouncer]",
            f"listen_addr = 127.0.0.1\nlisten_port = {port}\nunix_socket_dir =\nauth_type = any",
            f"pool_mode = transaction\ndefault_pool_size = {POOL}\nmax_client_conn = 200",
            "client_login_timeout = 10\nserver_login_retry = 1",
        ]
        file = folder / "pgbouncer.ini"
        file.write_text("\n".join(lines) + "\n")
        # It refuses to be root; the server's own user may open the server's socket.
        as_somebody = (
            ["-u", (Path(host) / f".s.PGSQL.{parts.port or 5432}").owner()]
            if os.geteuid() == 0
            else []
        )
        self.log = (folder / "log").open("w+")
        self.process = subprocess.Popen(
            [str(bootstrap.pgbouncer()), *as_somebody, str(file)], stdout=self.log, stderr=self.log
        )
        self.url = f"postgresql://{user}@127.0.0.1:{port}/{name}"
        self._wait(port)

    def _wait(self, port: int) -> None:
        deadline = time.monotonic() + 20
        while True:
            with socket.socket() as client:
                if client.connect_ex(("127.0.0.1", port)) == 0:
                    return
            assert time.monotonic() < deadline and self.process.poll() is None, Path(
                self.log.name
            ).read_text()

    def run(self, script: str) -> str:
        """What a process of ours prints whose database is the pooler."""
        environment = {
            **os.environ,
            "DATABASE_URL": self.url,
            "DATABASE_POOLER": "true",
            "TILLGATE_ENV": "test",
        }
        environment["DJANGO_SETTINGS_MODULE"] = "config.settings"
        command = [sys.executable, "-c", BEGIN + script]
        done = subprocess.run(
            command,
            cwd=ROOT,
            env=environment,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        assert done.returncode == 0, done.stderr + Path(self.log.name).read_text()
        return done.stdout.strip()


@pytest.fixture(scope="module")
def pooler(django_db_setup: None) -> Iterator[Pooler]:
    folder = Path(tempfile.mkdtemp(prefix="pooler-"))
    folder.chmod(0o755)
    found = Pooler(folder)
    yield found
    found.process.terminate()
    found.process.wait(20)
    found.log.close()
    shutil.rmtree(folder)


def test_a_turn_has_one_holder_and_is_free_afterwards(pooler: Pooler) -> None:
    told = pooler.run("""
from apps.core.db import locks
inside, most, turns = [], [], []

def work(number):
    for _ in range(20):
        with locks.try_hold(locks.Turn.CHAIN_SENDER, "pooled") as is_mine:
            if is_mine:
                inside.append(number)
                most.append(len(inside))
                ask("SELECT pg_sleep(0.01)")
                inside.remove(number)
                turns.append(number)

together(work, 8)
turn = locks.Turn.TEST_CLOCK
with locks.hold(turn, "pooled"), locks.try_hold(turn, "pooled") as again:
    pass
print(max(most), len(turns) > 1, again, ask("SELECT count(*) FROM core_lease WHERE key = 'pooled'"),
      ask("SELECT count(*) FROM pg_locks WHERE locktype = 'advisory'"))
""")
    assert told == "1 True False [(0,)] [(0,)]"


def test_no_later_client_stops_waiting_for_the_disk(pooler: Pooler) -> None:
    told = pooler.run("""
from apps.core.clock import real_now
from apps.webhooks.delivery import queue
together(lambda _: [queue.claim(real_now(), 5) for _ in range(3)], 12)
print(sorted(set(together(lambda _: ask("SHOW synchronous_commit")[0][0], 24))))
""")
    assert told == "['on']"


def test_what_webhooks_record_does_not_wait_for_the_disk(pooler: Pooler) -> None:
    told = pooler.run("""
from apps.webhooks.delivery import queue
print(queue._rows("SELECT current_setting('synchronous_commit')", {}),
    ask("SHOW synchronous_commit"))
""")
    assert told == "[('off',)] [('on',)]"


def test_long_lists_are_whole_beside_others(pooler: Pooler) -> None:
    told = pooler.run("""
from apps.assets.models import Rate
from apps.core.db import streams
streams.FETCH = 20
rates = Rate.objects.order_by("asset_id", "currency")
every = len(ask("SELECT 1 FROM assets_rate"))

def work(number):
    if number % 2:
        ask("SELECT pg_sleep(0.01)")
        return len(list(streams.models_of(rates, 10_000))) == every > 100
    return sum(1 for _ in streams.rows_of("SELECT generate_series(1, %(most)s)", {"most": 3000}))

print(sorted(set(map(str, together(work, 16)))))
""")
    assert told == "['3000', 'True']"


def test_the_statements_of_every_request_work_from_any_connection(pooler: Pooler) -> None:
    told = pooler.run("""
from apps.assets.selectors import with_chains
found = together(lambda _: [len(with_chains(["ETH", "SETH"])) for _ in range(10)], 12)
print(set(sum(found, [])))
""")
    assert told == "{2}"


def test_rows_are_walked_and_their_failures_kept(pooler: Pooler) -> None:
    told = pooler.run("""
from apps.assets.models import Chain
from apps.core.models import RowFailure
from apps.core.rows import Job
job, seen = Job("tests.pooled"), []

def act(chain):
    seen.append(chain.pk)
    if chain.pk == "base":
        raise ValueError

job.walk(Chain.objects.order_by("pk"), act)
print(len(seen), RowFailure.objects.filter(job="tests.pooled").delete()[0])
""")
    assert told == "5 1"


def test_a_scope_goes_with_its_statement_and_stays_on_no_connection(pooler: Pooler) -> None:
    told = pooler.run("""
from django.db import transaction
from apps.core.db import tenancy
from apps.core.db.sql import Statement
setting = "SELECT coalesce(current_setting('tillgate.stores', true), '')"
statement = Statement(setting)

def work(number):
    wanted, found = "{%s}" % number, []
    with tenancy.within(tenancy.Scope(wanted, "{test}", wanted)):
        for _ in range(10):
            found += [ask(setting), statement.rows()]
            with transaction.atomic():
                found += [ask(setting), statement.rows()]
    return all(one == [(wanted,)] for one in found)

print(set(together(work, 16)), set(row[0][0] for row in together(lambda _: ask(setting), 24)))
""")
    assert told == "{True} {''}"
