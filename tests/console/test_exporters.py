"""Workers, beat, the watcher and the signer as processes that are scraped on ports of their own."""

import threading
from collections.abc import Iterator
from typing import Any

import pytest
import requests

from apps.console import exporter
from apps.core import buckets
from dev.ports import free_port
from tests import background
from tests.stack import wait_for

START_SECONDS = 60.0


@pytest.fixture(scope="module")
def ports(
    django_db_setup: None, django_db_blocker: Any, tmp_path_factory: pytest.TempPathFactory
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
            "METRICS_PORT": str(port),
            "METRICS_FOLDER": str(folder / "metrics"),
            "ALIVE_FILE": str(folder / f"{name}.alive"),
        }
        for name, port in found.items()
    }
    buckets.client().delete("celery")  # what other tests have asked for
    with django_db_blocker.unblock(), background.running(commands, folder, environments):
        yield found
        # What their containers are asked: the loops have turned.
        assert {file.stem for file in folder.glob("*.alive")} == {"beat", "watcher"}


def figures(port: int) -> dict[str, float]:
    """Every figure by its line; empty until it answers."""
    try:
        page = requests.get(f"http://127.0.0.1:{port}/metrics", timeout=5).text
    except requests.ConnectionError:
        return {}
    lines = [line.rpartition(" ") for line in page.splitlines() if not line.startswith("#")]
    return {name: float(value) for name, _, value in lines}


def test_a_worker_tells_the_runs_of_all_its_children(ports: dict[str, int]) -> None:
    runs = 'tillgate_job_seconds_count{name="core.heartbeat"}'
    found = wait_for(
        lambda: figures(ports["worker"]), lambda told: told.get(runs, 0) >= 2, START_SECONDS
    )
    assert found['tillgate_job_seconds_sum{name="core.heartbeat"}'] > 0
    assert not any(name.startswith("tillgate_waiting") for name in found)  # web tells that


def test_beat_tells_how_much_it_has_sent(ports: dict[str, int]) -> None:
    first = wait_for(
        lambda: figures(ports["beat"]).get("tillgate_beat_sent_total", 0),
        lambda sent: sent > 0,
        START_SECONDS,
    )
    wait_for(lambda: figures(ports["beat"])["tillgate_beat_sent_total"], lambda sent: sent > first)


def test_the_watcher_tells_that_jobs_run(ports: dict[str, int]) -> None:
    age = 'tillgate_heartbeat_age_seconds{part="jobs"}'
    found = wait_for(lambda: figures(ports["watcher"]), lambda told: age in told, START_SECONDS)
    assert found[age] < START_SECONDS


def test_a_process_without_a_port_listens_nowhere() -> None:
    before = threading.active_count()
    exporter.serve(exporter.process_registry(), 0)
    assert threading.active_count() == before
