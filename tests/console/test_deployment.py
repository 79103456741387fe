"""What a deployment is told in .env.example and compose.yaml agrees with what the code reads."""

import ast
import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from django.conf import settings
from django.db import ProgrammingError, connection, transaction

from config.celery import app as celery
from config.demo_secrets import PUBLISHED
from tests import make
from tests.cast import Shop

ROOT = Path(__file__).resolve().parents[2]
READERS = ("config/environment.py", "config/settings.py", "config/providers.py", "config/celery.py")
# Used by compose.yaml alone.
COMPOSE_ONLY = {"POSTGRES_PASSWORD", "POSTGRES_APP_PASSWORD"}
NOT_A_SETTING = {"DJANGO_SETTINGS_MODULE", "CELERY_SKIP_CHECKS"}
PRODUCTION = {
    "TILLGATE_ENV": "production",
    "PUBLIC_URL": "https://pay.example.com",
    "SECRET_KEY": "k" * 60,
    "ENCRYPTION_KEYS": "one:MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg5MDE=",
    "DEPOSIT_XPUB_LIVE": "xpub-live",
    "DEPOSIT_XPUB_TEST": "xpub-test",
    "METRICS_TOKEN": "m" * 30,
    "DATABASE_URL": "postgresql://nobody@localhost:1/nothing",
    "REDIS_URL": "redis://localhost:1/0",
}


def variables_read() -> set[str]:
    """Names in upper case that are the first argument of a call on the environment."""
    found: set[str] = set()
    for path in READERS:
        for node in ast.walk(ast.parse((ROOT / path).read_text())):
            if isinstance(node, ast.Call) and node.args and re.search(r"env\b|environ|secret|service", ast.unparse(node.func)):
                first = node.args[0]
                if isinstance(first, ast.Constant) and isinstance(first.value, str) and first.value.isupper():
                    found.add(first.value)
    names = [chain.upper() for chain in settings.CHAIN_URLS]
    return found - NOT_A_SETTING | {f"CHAIN_{name}_URL" for name in names} | {f"CHAIN_START_BLOCK_{name}" for name in names}


def variables_explained() -> set[str]:
    return set(re.findall(r"^#?([A-Z][A-Z0-9_]*)=", (ROOT / ".env.example").read_text(), re.MULTILINE))


def test_every_variable_that_is_read_is_explained_and_the_reverse() -> None:
    assert variables_explained() - COMPOSE_ONLY == variables_read()


def test_the_example_holds_no_published_secret() -> None:
    text = (ROOT / ".env.example").read_text()
    assert not [name for name, value in PUBLISHED.items() if value in text]


def test_compose_runs_each_process_once_and_publishes_only_the_web_and_its_proxy() -> None:
    services = yaml.safe_load((ROOT / "compose.yaml").read_text())["services"]
    assert {"migrate", "web", "worker", "reports", "beat", "watcher", "signer", "postgres", "redis"} <= set(services)
    holders = [
        name for name, service in services.items() if "signer.env" in service.get("env_file", []) or "keys" in str(service.get("volumes"))
    ]
    assert holders == ["signer"]
    assert [name for name, service in services.items() if service.get("ports")] == ["web", "proxy"]
    assert all(port.startswith("127.0.0.1:") for port in services["web"]["ports"])


FOLDERS = """
import json, os
import django
django.setup()
from django.conf import settings
from config.celery import app
folders = [one["OPTIONS"]["location"] for one in settings.STORAGES.values() if "location" in one.get("OPTIONS", {})]
print(json.dumps({"shared": folders, "beat": os.path.dirname(app.conf.beat_schedule_filename), "mail": settings.EMAIL_BACKEND}))
"""
INSIDE = "/srv/tillgate"


def mounts(service: dict[str, Any]) -> set[str]:
    return {str(one).split(":")[1] for one in service.get("volumes", ())} | set(service.get("tmpfs", ()))


def test_every_folder_that_is_written_to_is_a_volume_where_the_rest_can_not_be_written() -> None:
    """What web and workers share outlives a container; what beat notes for itself needn't."""
    kept = {name: os.environ[name] for name in ("PATH", "HOME", "LANG") if name in os.environ}
    environ = kept | PRODUCTION | {"TILLGATE_VAR": f"{INSIDE}/var", "DJANGO_SETTINGS_MODULE": "config.settings"}
    run = subprocess.run([sys.executable, "-c", FOLDERS], env=environ, cwd=ROOT, capture_output=True, text=True, check=True, timeout=60)
    written = json.loads(run.stdout)
    assert {Path(one).name for one in written["shared"]} == {"media", "private"}
    assert "smtp" in written["mail"]
    compose = yaml.safe_load((ROOT / "compose.yaml").read_text())
    for name in ("web", "worker", "reports", "documents", "clocks"):
        service = compose["services"][name]
        assert service["read_only"]
        assert set(written["shared"]) <= mounts(service), name
        assert {volume.split(":")[0] for volume in service["volumes"]} <= set(compose["volumes"])
    beat = compose["services"]["beat"]
    schedule = beat["command"][beat["command"].index("--schedule") + 1]
    assert str(Path(schedule).parent) in mounts(beat)
    assert all("/tmp" in mounts(service) for service in compose["services"].values() if service.get("read_only"))
    made = re.findall(r"mkdir -p (.*?) &&", (ROOT / "Dockerfile").read_text())[0].split()
    assert {f"{INSIDE}/{one}" for one in made} >= {*written["shared"], str(Path(schedule).parent)}


def start(environment: dict[str, str]) -> "subprocess.CompletedProcess[str]":
    """`manage.py check` with this environment and nothing else of ours."""
    command = [sys.executable, str(ROOT / "manage.py"), "check"]
    kept = {name: os.environ[name] for name in ("PATH", "HOME", "LANG") if name in os.environ}
    return subprocess.run(command, env=kept | environment, capture_output=True, text=True, check=False, timeout=60)


def test_a_production_start_with_everything_it_needs_is_accepted() -> None:
    run = start(PRODUCTION)
    assert run.returncode == 0, run.stderr


@pytest.mark.parametrize("name", sorted(set(PRODUCTION) - {"TILLGATE_ENV"}))
def test_a_production_start_without_a_variable_names_it(name: str) -> None:
    run = start({key: value for key, value in PRODUCTION.items() if key != name})
    assert run.returncode != 0
    assert f"{name} is missing" in run.stderr


@pytest.mark.parametrize("name", sorted(PUBLISHED))
def test_a_production_start_with_a_published_secret_names_it(name: str) -> None:
    run = start(PRODUCTION | {name: PUBLISHED[name]})
    assert run.returncode != 0
    assert f"{name} holds the published demo value" in run.stderr


def test_every_queue_has_a_worker_and_live_money_waits_for_no_report_and_no_test() -> None:
    services = yaml.safe_load((ROOT / "compose.yaml").read_text())["services"].values()
    commands = [service["command"] for service in services if "worker" in service.get("command", ())]
    served = [command[command.index("--queues") + 1] for command in commands]
    assert sorted(served) == sorted(celery.amqp.queues) == ["celery", "documents", "reports", "test", "test_clocks"]
    routed = {name: celery.amqp.router.route({}, name)["queue"] for name in ("reports.generate", "payouts.advance")}
    assert {name: (queue.name, queue.routing_key) for name, queue in routed.items()} == {
        "reports.generate": ("reports", "reports"),
        "payouts.advance": ("celery", "celery"),
    }
    runs = celery.conf.beat_schedule
    for name in ("chain.send_due", "chain.sweep", "payouts.advance"):
        assert {mode: runs[f"{name}:{mode}"]["options"]["queue"] for mode in ("live", "test")} == {"live": "celery", "test": "test"}
        assert {runs[f"{name}:{mode}"]["kwargs"]["mode"] for mode in ("live", "test")} == {"live", "test"}


def test_only_migrations_run_as_the_owner_of_the_tables() -> None:
    services = yaml.safe_load((ROOT / "compose.yaml").read_text())["services"]
    own = [name for name, service in services.items() if "DATABASE_URL" in service.get("environment", {})]
    assert own == ["migrate"]
    assert "postgresql://tillgate_app:" in (ROOT / ".env.example").read_text()


@pytest.fixture
def app_role(db: None) -> Iterator[None]:
    """This connection writes as the role that a deployment makes for everything but migrations."""
    text = (ROOT / "config/postgres/roles.sql").read_text()
    statements = "".join(line for line in text.splitlines(keepends=True) if not line.startswith("\\")).replace(":'password'", "'p'")
    with connection.cursor() as cursor:
        cursor.execute(statements)
        cursor.execute("SET LOCAL ROLE tillgate_app")
        yield
        cursor.execute("RESET ROLE")


@pytest.mark.parametrize(
    "statement",
    [
        "ALTER TABLE ledger_entry DISABLE TRIGGER ALL",
        "DROP TRIGGER entry_no_truncate ON ledger_entry",
        "ALTER TABLE ledger_account DROP CONSTRAINT ledger_account_pkey",
        "TRUNCATE ledger_entry",
        "DROP TABLE stores_auditentry",
        "SET session_replication_role = replica",
        "CREATE OR REPLACE FUNCTION ledger_refuse_change() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NEW; END'",
    ],
)
def test_the_role_of_the_application_can_not_take_a_guard_away(app_role: None, statement: str) -> None:
    with pytest.raises(ProgrammingError, match=r"must be owner|permission denied"), transaction.atomic():
        connection.cursor().execute(statement)


def test_the_role_of_the_application_is_enough_to_take_a_payment(bakery: Shop, app_role: None) -> None:
    made = make.payment(bakery.test)
    assert bakery.test.post(f"/payments/{made['id']}/simulated_payments", {}).status_code == 201
    assert bakery.test.get(f"/payments/{made['id']}").json()["status"] == "completed"
