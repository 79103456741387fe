"""Figures of a real PgBouncer that the watcher reports: who waits for a connection, and since
when."""

import threading
from collections.abc import Iterator
from contextlib import closing
from typing import Any

import psycopg
import pytest
from django.db import connection
from prometheus_client import CollectorRegistry, generate_latest

from apps.audit.grants import ROLES, WEB, WORKER
from apps.console.pooler_figures import PoolerCollector
from config.databases import DatabaseAddress, console_of
from dev.pooler import Pooler
from tests import postgres
from tests.stack import wait_for

pytestmark = [pytest.mark.pooler, pytest.mark.django_db]


@pytest.fixture
def pooler(settings: Any) -> Iterator[Pooler]:
    """With one connection for each role."""
    running = Pooler(postgres.direct_url(), ROLES, pool=1)
    address = DatabaseAddress(running.url("tillgate", WORKER), is_pooled=True)
    settings.DATABASE_POOLER_CONSOLE_URL = console_of(address, may_read=True)
    yield running
    running.stop()


def figures() -> dict[str, float]:
    registry = CollectorRegistry()
    registry.register(PoolerCollector())
    page = generate_latest(registry).decode()
    lines = (line.rpartition(" ") for line in page.splitlines() if not line.startswith("#"))
    return {name: float(value) for name, _, value in lines}


def test_who_waits_for_a_connection_is_counted_with_the_longest_wait(pooler: Pooler) -> None:
    database = connection.settings_dict["NAME"]
    waiting, active, idle = (
        f'tillgate_pooler_{name}{{database="{database}",state="{state}",user="{WEB}"}}'
        for name, state in (("clients", "waiting"), ("clients", "active"), ("servers", "idle"))
    )
    longest = f'tillgate_pooler_wait_seconds{{database="{database}",user="{WEB}"}}'
    transactions = f'tillgate_pooler_transactions_total{{database="{database}"}}'
    address = pooler.url(database, WEB)

    def wait() -> None:
        with closing(psycopg.connect(address, autocommit=True)) as other:
            other.execute("SELECT 1")

    with closing(psycopg.connect(address)) as holder:
        holder.execute("SELECT 1")
        found = figures()
        assert (found[active], found[waiting], found["tillgate_pooler_up"]) == (1, 0, 1)
        assert found[longest] == 0
        waits = threading.Thread(target=wait)
        waits.start()
        found = wait_for(figures, lambda found: found[waiting] == 1 and found[longest] > 0)
        later = wait_for(figures, lambda found: found[waiting] == 1)
        assert 0 < found[longest] < later[longest] < 60
        holder.commit()
        waits.join()
    found = wait_for(figures, lambda found: found[idle] == 1 and found[transactions] >= 2)
    assert (found[waiting], found[longest]) == (0, 0)


def test_of_a_pooler_that_is_away_it_is_told_that_it_is(pooler: Pooler) -> None:
    assert figures()["tillgate_pooler_up"] == 1
    pooler.process.kill()
    pooler.process.wait()
    assert figures() == {"tillgate_pooler_up": 0}


@pytest.mark.parametrize(("is_pooled", "may_read"), [(False, True), (True, False)])
def test_without_a_console_nothing_is_asked(settings: Any, is_pooled: bool, may_read: bool) -> None:
    address = DatabaseAddress("postgresql://nobody@127.0.0.1:1/tillgate", is_pooled)
    settings.DATABASE_POOLER_CONSOLE_URL = console_of(address, may_read=may_read)
    assert figures() == {}
