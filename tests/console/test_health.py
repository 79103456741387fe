"""Health of a process, as shown to the program that routes requests."""

import json
from collections.abc import Iterator
from typing import Any

import pytest
from django.db import connection
from django.db.migrations.executor import MigrationExecutor
from django.db.migrations.recorder import MigrationRecorder
from django.http import HttpResponse
from django.test import Client, RequestFactory
from django.utils.log import log_response

from apps.console import health
from apps.core.redis import buckets


@pytest.fixture
def without_redis(settings: Any) -> Iterator[None]:
    settings.REDIS_URL = "redis://127.0.0.1:9"
    buckets.client.cache_clear()
    yield
    buckets.client.cache_clear()


def told(api: Client, path: str) -> tuple[int, dict[str, bool]]:
    answer = api.get(path)
    return answer.status_code, {name: part["ready"] for name, part in answer.json().items()}


def test_without_redis_a_process_serves_and_the_service_is_not_whole(
    client: Client, db: None, without_redis: None
) -> None:
    assert told(client, "/readyz/web") == (200, {"database": True, "migrations": True})
    status, parts = told(client, "/readyz")
    assert (status, parts["redis"], parts["database"]) == (503, False, True)
    assert set(parts) == {"database", "redis", "migrations", "chain_watcher"}


def test_a_chain_that_nobody_reads_takes_no_process_out(
    client: Client, db: None, settings: Any
) -> None:
    settings.CHAIN_URLS = {"base": ["http://127.0.0.1:9"]}
    assert told(client, "/readyz/chains") == (503, {"chain_watcher": False})
    assert told(client, "/readyz")[0] == 503
    assert told(client, "/readyz/web")[0] == client.get("/healthz").status_code == 200


def test_what_a_probe_is_answered_is_not_logged_as_well(
    client: Client, db: None, settings: Any, caplog: pytest.LogCaptureFixture
) -> None:
    settings.CHAIN_URLS = {"base": ["http://127.0.0.1:9"]}
    assert client.get("/readyz").status_code == client.get("/readyz/chains").status_code == 503
    assert not caplog.records
    log_response("%s", "/pay", response=HttpResponse(status=503), request=RequestFactory().get("/"))
    assert [record.name for record in caplog.records] == ["django.request"]


def test_a_process_that_is_ahead_of_its_database_takes_no_requests(
    client: Client, db: None
) -> None:
    MigrationRecorder.Migration.objects.filter(app="ledger").delete()
    assert told(client, "/readyz/web") == (503, {"database": True, "migrations": False})


def pending(rf: RequestFactory) -> Any:
    return json.loads(health.readyz(rf.get("/readyz")).content)["migrations"]


def test_a_database_that_is_behind_the_code_is_not_ready(rf: RequestFactory, db: None) -> None:
    assert pending(rf) == {"ready": True, "pending": 0}
    shipped = {name for app, name in health._shipped_migrations() if app == "ledger"}
    MigrationRecorder.Migration.objects.filter(app="ledger", name__in=shipped).delete()
    assert pending(rf) == {"ready": False, "pending": len(shipped)}


def test_the_files_of_migrations_are_what_django_would_run(db: None) -> None:
    loader = MigrationExecutor(connection).loader
    replaced = {
        replace for squashed in loader.replacements.values() for replace in squashed.replaces
    }
    assert health._shipped_migrations() - replaced == set(loader.disk_migrations) - replaced
