"""Behind a real PgBouncer in transaction mode: turns have one holder, long lists are whole, and
nobody's settings are another's."""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.db import connection

from apps.audit.grants import ROLES
from dev import pooler as pooler_program
from tests import postgres
from tests.forks import Forks

pytestmark = [
    pytest.mark.pooler,
    pytest.mark.django_db,
]
ROOT = Path(__file__).parents[2]
BEGIN = """
import threading, time
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


class Pooled:
    """Processes of ours on the test's database, behind a pooler that has fewer connections than
    they have threads."""

    def __init__(self) -> None:
        # The tests' server doesn't wait for its disk; that it does is what must never be lost.
        self.pooler = pooler_program.Pooler(
            postgres.direct_url(), ROLES, first="SET synchronous_commit TO on"
        )
        self.environment = {
            **os.environ,
            **self.pooler.environment(connection.settings_dict["NAME"]),
            "DATABASE_DIRECT_URL": "",
            "TILLGATE_ENV": "test",
            "DJANGO_SETTINGS_MODULE": "config.settings",
        }
        self.forks = Forks(self.environment)

    def ask(self, script: str) -> str:
        """Output of a fork whose database is the pooler."""
        return self._said(self.forks.run(BEGIN + script))

    def stop(self) -> None:
        self.forks.end()
        self.pooler.stop()

    def run(self, script: str, **environment: str) -> str:
        """Output of a process that starts so."""
        done = subprocess.run(
            [sys.executable, "-c", script],
            cwd=ROOT,
            env=self.environment | environment,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        return self._said(done)

    def _said(self, done: "subprocess.CompletedProcess[str]") -> str:
        assert done.returncode == 0, done.stderr + self.pooler.log.read_text()
        return done.stdout.strip()


@pytest.fixture(scope="module")
def pooler(django_db_setup: None) -> Iterator[Pooled]:
    pooled = Pooled()
    yield pooled
    pooled.stop()


def test_a_turn_has_one_holder_and_is_free_afterwards(pooler: Pooled) -> None:
    told = pooler.ask("""
from apps.core.db import locks
inside, most, turns = [], [], []

def work(number):
    for _ in range(8):
        with locks.try_hold(locks.LockKind.CHAIN_SENDER, "pooled") as is_mine:
            if is_mine:
                inside.append(number)
                most.append(len(inside))
                ask("SELECT pg_sleep(0.01)")
                inside.remove(number)
                turns.append(number)

together(work, 8)
turn = locks.LockKind.TEST_CLOCK
with locks.hold(turn, "pooled"), locks.try_hold(turn, "pooled") as again:
    pass
print(max(most), len(turns) > 1, again, ask("SELECT count(*) FROM core_lease WHERE key = 'pooled'"),
      ask("SELECT count(*) FROM pg_locks WHERE locktype = 'advisory'"))
""")
    assert told == "1 True False [(0,)] [(0,)]"


def test_no_later_client_stops_waiting_for_the_disk(pooler: Pooled) -> None:
    told = pooler.ask("""
from apps.core.clock import real_now
from apps.webhooks.delivery import queue
together(lambda _: [queue.claim(real_now(), 5) for _ in range(3)], 12)
print(sorted(set(together(lambda _: ask("SHOW synchronous_commit")[0][0], 24))))
""")
    assert told == "['on']"


def test_what_webhooks_record_does_not_wait_for_the_disk(pooler: Pooled) -> None:
    told = pooler.ask("""
from apps.core.db.sql import Statement, rows_in_turn
from apps.webhooks.delivery import queue
setting = Statement("SELECT current_setting('synchronous_commit')")
print(rows_in_turn(queue._LOCK, setting, lock=1, is_alone=True), ask("SHOW synchronous_commit"))
""")
    assert told == "[('off',)] [('on',)]"


def test_long_lists_are_whole_beside_others(pooler: Pooled) -> None:
    told = pooler.ask("""
from apps.assets.models import Rate
from apps.core.db import streams
streams.FETCH = 20
rates = Rate.objects.order_by("asset_id", "currency")
every = len(ask("SELECT 1 FROM assets_rate"))

def work(number):
    if number % 2:
        ask("SELECT pg_sleep(0.01)")
        keys = rates.values_list("pk", flat=True)
        return len(list(streams.models_of(rates, list(keys)))) == every > 100
    series = "SELECT generate_series(1, %(most)s)"
    return sum(1 for _ in streams.rows_of(series, {"most": 3000}, None))

print(sorted(set(map(str, together(work, 16)))))
""")
    assert told == "['3000', 'True']"


def test_the_statements_of_every_request_work_from_any_connection(pooler: Pooled) -> None:
    told = pooler.ask("""
from apps.assets.selectors import with_chains
found = together(lambda _: [len(with_chains(["ETH", "SETH"])) for _ in range(10)], 12)
print(set(sum(found, [])))
""")
    assert told == "{2}"


@pytest.mark.skipif(not pooler_program.prepares(), reason="PgBouncer prepares from 1.21")
def test_statements_stay_prepared_where_the_pooler_follows_them(pooler: Pooled) -> None:
    script = """
from apps.assets.selectors import with_chains
together(lambda _: [with_chains(["ETH", "SETH"]) for _ in range(10)], 12)
print(ask("SELECT count(*) > 0 FROM pg_prepared_statements"))
"""
    assert pooler.ask(script) == "[(True,)]"


def test_without_that_no_statement_is_prepared(pooler: Pooled) -> None:
    script = """
from django.conf import settings
print(settings.DATABASES["default"]["OPTIONS"]["prepare_threshold"])
"""
    assert pooler.run(script, DATABASE_PREPARED_STATEMENTS="") == "None"


def test_the_web_server_starts(pooler: Pooled) -> None:
    """Settings that a pooler would refuse aren't sent to it when a connection begins."""
    told = pooler.ask("""
import config.asgi
from django.conf import settings
print(settings.DATABASES["default"]["OPTIONS"].get("options"), ask("SELECT 1"))
""")
    assert told == "None [(1,)]"


# Each command begins in a fork that has read nothing of ours.
ADDRESSES = """
import os, sys
for command in ("watch_chains", "treasury"):
    for direct in (os.environ["DIRECT"], ""):
        if not os.fork():
            sys.argv = ["manage.py", command]
            os.environ["DATABASE_DIRECT_URL"] = direct
            from config import environment
            print(environment.DATABASE_URL, environment.DATABASE_POOLER, flush=True)
            os._exit(0)
        os.wait()
"""


def test_what_needs_a_connection_of_its_own_passes_by_the_pooler(pooler: Pooled) -> None:
    direct = postgres.direct_url()
    pooled = f"{pooler.environment['DATABASE_URL']} True"
    told = pooler.run(ADDRESSES, DIRECT=direct).splitlines()
    assert told == [f"{direct} False", pooled, pooled, pooled]


def test_the_ledger_is_verified_in_one_snapshot(pooler: Pooled) -> None:
    told = pooler.ask("""
from apps.audit import verify
from apps.core.db import tenancy
with tenancy.everyone("the whole ledger"):
    print(len(verify.verdicts()) > 20)
""")
    assert told == "True"


def test_rows_are_walked_and_their_failures_kept(pooler: Pooled) -> None:
    told = pooler.ask("""
from apps.assets.models import Chain
from apps.core.models import RowFailure
from apps.core.rows import Job
job, seen = Job("tests.pooled"), []

def act(chain):
    seen.append(chain.pk)
    if chain.pk == "base":
        raise ValueError

job.walk(Chain.objects.order_by("pk"), act)
print(len(seen) == Chain.objects.count(), RowFailure.objects.filter(job="tests.pooled").delete()[0])
""")
    assert told == "True 1"


def test_a_scope_goes_with_its_statement_and_stays_on_no_connection(pooler: Pooled) -> None:
    told = pooler.ask("""
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
    return all(rows == [(wanted,)] for rows in found)

print(set(together(work, 16)), set(row[0][0] for row in together(lambda _: ask(setting), 24)))
""")
    assert told == "{True} {''}"
