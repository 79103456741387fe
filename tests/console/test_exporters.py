"""Workers, beat and the watcher as processes: they are scraped on ports of their own, and go on
when the master of their Redis is killed, without being started anew."""

import threading
import time
from collections.abc import Iterator
from typing import Any

import pytest
import requests
from django.db import connection

from apps.console import exporter
from dev.ports import free_port
from tests import background
from tests.sentinels import Sentinels
from tests.stack import wait_for

START_SECONDS = 60.0
FAILOVER_SECONDS = 30.0
# Sentinels whose votes come late wait ten seconds before they elect anew.
alone = pytest.mark.alone


@pytest.fixture(scope="module")
def sentinels() -> Iterator[Sentinels]:
    running = Sentinels()
    yield running
    running.close()


@pytest.fixture(scope="module")
def ports(
    sentinels: Sentinels,
    django_db_setup: None,
    django_db_blocker: Any,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[dict[str, int]]:
    """The port of each, on the test database."""
    folder = tmp_path_factory.mktemp("exporters")
    commands = {
        "worker": background.WORKER,
        "beat": background.beat(folder),
        "watcher": background.WATCHER,
    }
    found = {name: free_port() for name in commands}
    environments = {
        name: {
            "REDIS_URL": sentinels.url,
            "METRICS_PORT": str(port),
            "METRICS_FOLDER": str(folder / "metrics"),
            "ALIVE_FILE": str(folder / f"{name}.alive"),
        }
        for name, port in found.items()
    }
    with django_db_blocker.unblock(), background.running(commands, folder, environments):
        yield found
        # What their containers are asked: the loops turn, and go on while Redis is away.
        sentinels.close()
        files = [folder / "beat.alive", folder / "watcher.alive"]
        for file in files:
            file.unlink()
        wait_for(lambda: [file.exists() for file in files], all)
        assert not (folder / "worker.alive").exists()


def figures(port: int) -> dict[str, float]:
    """Every figure by its line; empty until it answers."""
    try:
        page = requests.get(f"http://127.0.0.1:{port}/metrics", timeout=60).text
    except requests.ConnectionError:
        return {}
    lines = [line.rpartition(" ") for line in page.splitlines() if not line.startswith("#")]
    return {name: float(value) for name, _, value in lines}


@alone
def test_a_worker_tells_the_runs_of_all_its_children(ports: dict[str, int]) -> None:
    runs = 'tillgate_job_seconds_count{name="core.heartbeat"}'
    found = wait_for(
        lambda: figures(ports["worker"]), lambda told: told.get(runs, 0) >= 2, START_SECONDS
    )
    assert found['tillgate_job_seconds_sum{name="core.heartbeat"}'] > 0
    assert not any(name.startswith("tillgate_waiting") for name in found)  # web tells that


@alone
def test_beat_tells_how_much_it_has_sent(ports: dict[str, int]) -> None:
    first = wait_for(
        lambda: figures(ports["beat"]).get("tillgate_beat_sent_total", 0),
        lambda sent: sent > 0,
        START_SECONDS,
    )
    wait_for(lambda: figures(ports["beat"])["tillgate_beat_sent_total"], lambda sent: sent > first)


@alone
def test_the_watcher_tells_that_jobs_run(ports: dict[str, int]) -> None:
    age = 'tillgate_heartbeat_age_seconds{part="jobs"}'
    found = wait_for(lambda: figures(ports["watcher"]), lambda told: age in told, START_SECONDS)
    assert found[age] < START_SECONDS


def heartbeats_age() -> float:
    with connection.cursor() as cursor:
        cursor.execute("SELECT extract(epoch FROM clock_timestamp() - max(at)) FROM core_heartbeat")
        return float(cursor.fetchone()[0] or 10**6)


KEPT_SECONDS = 2.0
_KEPT = """
SELECT pid FROM pg_stat_activity
WHERE pid <> pg_backend_pid() AND query LIKE '%%INTO core_heartbeat%%''jobs''%%'
AND query_start - backend_start > make_interval(secs => %s)
"""


def kept_connections() -> set[int]:
    """Connections by which a job wrote its heartbeat long after they had been opened."""
    with connection.cursor() as cursor:
        cursor.execute(_KEPT, [KEPT_SECONDS])
        return {pid for (pid,) in cursor.fetchall()}


@alone
def test_a_job_has_the_connection_of_the_one_before_until_it_is_gone(
    ports: dict[str, int],
) -> None:
    kept = wait_for(kept_connections, bool, START_SECONDS)
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_terminate_backend(pid) FROM unnest(%s) pid", [list(kept)])
    wait_for(kept_connections, lambda others: bool(others - kept), START_SECONDS)


@alone
def test_jobs_follow_a_failover(sentinels: Sentinels, ports: dict[str, int]) -> None:
    wait_for(heartbeats_age, lambda seconds: seconds < 5, START_SECONDS)
    sentinels.kill_sentinel()
    sentinels.kill_master()
    killed_at = time.monotonic()
    wait_for(
        heartbeats_age,
        lambda age: age < time.monotonic() - killed_at - 1,
        FAILOVER_SECONDS,
    )


def test_a_process_without_a_port_listens_nowhere() -> None:
    before = threading.active_count()
    exporter.serve(exporter.process_registry(), 0)
    assert threading.active_count() == before
