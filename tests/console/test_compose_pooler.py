"""The pooler of compose.yaml: who comes in through it and who passes by, which passwords it has,
and that a request and a job get through it with the passwords that new_env.sh writes."""

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import psycopg
import pytest
import yaml
from django.db import connection
from psycopg import sql

from apps.audit.grants import WATCHER, WEB, WORKER
from config.databases import CONSOLE, DatabaseAddress, address_of
from dev import pooler, template_database
from tests import postgres
from tests.cast import assemble
from tests.poolers import ComposePooler
from tests.stack import wait_for

ROOT = Path(__file__).resolve().parents[2]
NEW_ENV = ROOT / "config/postgres/new_env.sh"
DATABASE = "behind_the_pooler"
# Lets PostgreSQL ask these roles for their passwords, as in a container.
RULE = f"local {DATABASE} {WEB},{WORKER} scram-sha-256\n"
THROUGH = {"web", "worker", "worker-test", "webhooks", "reports", "documents", "clocks", "beat"}
DIRECTLY = {"migrate", "backup", "audit", "watcher", "signer"}
Variables = dict[str, str]


def compose() -> dict[str, dict[str, Any]]:
    return dict(yaml.safe_load((ROOT / "compose.yaml").read_text())["services"])


def written(folder: Path, *arguments: str) -> dict[str, Variables]:
    """Files that new_env.sh writes, by name."""
    subprocess.run(["sh", str(NEW_ENV), *arguments], cwd=folder, check=True)
    return {
        path.name: dict(line.split("=", 1) for line in path.read_text().splitlines())
        for path in folder.glob("*.env")
    }


def addresses(files: dict[str, Variables]) -> dict[str, DatabaseAddress]:
    """Where each service with an address of PostgreSQL connects to."""
    found = {}
    for name, service in compose().items():
        known: Variables = {}
        for file in service.get("env_file", ()):
            known |= files.get(file, {})
        if "DATABASE_URL" in known:
            pooled = DatabaseAddress(known["DATABASE_URL"], known.get("DATABASE_POOLER") == "true")
            arguments = service.get("command", ["python", "-m", "config.web"])
            arguments = arguments[1:] if arguments[0] == "python" else arguments
            found[name] = address_of(pooled, known.get("DATABASE_DIRECT_URL", ""), arguments)
    return found


def test_web_and_workers_come_in_through_it_and_the_rest_passes_by(tmp_path: Path) -> None:
    found = addresses(written(tmp_path))
    assert {name for name, address in found.items() if address.is_pooled} == THROUGH
    assert set(found) == THROUGH | DIRECTLY
    for name, address in found.items():
        host = "pooler" if name in THROUGH else "postgres"
        assert urlsplit(address.url).hostname == host, name
    for name in {*THROUGH, *DIRECTLY}:
        assert ("pooler" in compose()[name]["depends_on"]) is (name in THROUGH), name


def test_without_a_pooler_everybody_connects_directly(tmp_path: Path) -> None:
    found = addresses(written(tmp_path, "--without-pooler"))
    assert set(found) == THROUGH | DIRECTLY
    assert {(urlsplit(item.url).hostname, item.is_pooled) for item in found.values()} == {
        ("postgres", False)
    }


def test_it_has_the_passwords_of_those_who_come_in_and_no_other_file_has_them(
    tmp_path: Path,
) -> None:
    files = written(tmp_path)
    names = {
        "web.env": "POSTGRES_WEB_PASSWORD",
        "worker.env": "POSTGRES_WORKER_PASSWORD",
        "watcher.env": "POSTGRES_WATCHER_PASSWORD",
    }
    assert set(files["pooler.env"]) == set(names.values())
    text = {name: (tmp_path / name).read_text() for name in files}
    for name, variable in names.items():
        password = files["pooler.env"][variable]
        holders = {file for file in files if password in text[file]}
        assert holders == {name, "pooler.env", "postgres.env"}
    assert compose()["pooler"]["env_file"] == ["pooler.env"]
    holders = {name for name, item in compose().items() if "pooler.env" in item.get("env_file", ())}
    assert holders == {"pooler"}
    assert "ports" not in compose()["pooler"]


def test_its_image_is_a_stage_of_ours_that_runs_this_script_and_not_as_root() -> None:
    stage = re.findall(r"^FROM \S+ AS pooler\n(.*?)^FROM ", _dockerfile(), re.DOTALL | re.MULTILINE)
    assert len(stage) == 1
    assert compose()["pooler"]["build"] == {"context": ".", "target": "pooler"}
    target = re.findall(r"COPY config/pooler/start.sh (\S+)", stage[0])
    assert f'CMD ["sh", "{target[0]}"]' in stage[0]
    assert "USER pooler" in stage[0]
    # Older ones refuse `max_prepared_statements`, with which web's statements are prepared.
    least = ".".join(map(str, pooler.PREPARES_FROM))
    assert f"ge {least}" in stage[0]


def _dockerfile() -> str:
    return (ROOT / "Dockerfile").read_text()


def test_postgresql_is_tuned_by_settings_whose_defaults_are_in_the_example() -> None:
    text = " ".join([*compose()["postgres"]["command"], str(compose()["pooler"]["environment"])])
    defaults = dict(re.findall(r"\$\{(\w+):-([^}]*)\}", text))
    assert {"POSTGRES_SHARED_BUFFERS", "POSTGRES_RANDOM_PAGE_COST", "POOLER_POOL_SIZE"} <= set(
        defaults
    )
    example = (ROOT / ".env.example").read_text()
    assert dict(
        re.findall(r"^#((?:POOLER|POSTGRES)_(?!CLIENT_BIN)\w+)=(.*)$", example, re.MULTILINE)
    ) == (defaults)


class Deployment:
    """The files of new_env.sh, their passwords in PostgreSQL, and the pooler's script before it."""

    def __init__(self, folder: Path) -> None:
        self.files = written(folder)
        self.url = postgres.direct_url("tillgate")
        parts = urlsplit(self.url)
        self.socket = Path(parse_qs(parts.query)["host"][0])
        with psycopg.connect(self.url, autocommit=True) as owner:
            owner.execute(f"DROP DATABASE IF EXISTS {DATABASE}")
            owner.execute(f"CREATE DATABASE {DATABASE} TEMPLATE {template_database.DATABASE}")
            for role, file in (
                (WEB, "web.env"),
                (WORKER, "worker.env"),
                (WATCHER, "watcher.env"),
            ):
                password = urlsplit(self.files[file]["DATABASE_URL"]).password
                statement = sql.SQL("ALTER ROLE {} PASSWORD {}")
                owner.execute(statement.format(sql.Identifier(role), sql.Literal(password)))
            shown = owner.execute("SHOW hba_file").fetchone()
        assert shown
        self.rules = Path(shown[0])
        self.set_rules(RULE + self.rules.read_text())
        self.pooler = self.new_pooler()
        wait_for(self._is_listening, bool, 20)

    def set_rules(self, text: str) -> None:
        self.rules.write_text(text)
        with psycopg.connect(self.url, autocommit=True) as owner:
            owner.execute("SELECT pg_reload_conf()")

    def new_pooler(self, server_port: int = 5432) -> ComposePooler:
        return ComposePooler(
            {
                **self.files["pooler.env"],
                "POOLER_SERVER_HOST": str(self.socket),
                "POOLER_SERVER_PORT": str(server_port),
            }
        )

    def _is_listening(self) -> bool:
        assert self.pooler.process.poll() is None
        try:
            psycopg.connect(self.address("web.env")).close()
        except psycopg.OperationalError:
            return False
        return True

    def address(self, file: str) -> str:
        """The address in the file, with the place where the pooler is here."""
        url = self.files[file]["DATABASE_URL"]
        assert url.endswith("@pooler:5432/tillgate")
        return url.replace("@pooler:5432/tillgate", f"@127.0.0.1:{self.pooler.port}/{DATABASE}")

    def direct(self, role: str, password: str = "") -> str:
        return f"host={self.socket} dbname={DATABASE} user={role} password='{password}'"

    def environment(self, file: str) -> Variables:
        """Of a process that is given the file."""
        return {
            **os.environ,
            **self.files[file],
            "DATABASE_URL": self.address(file),
            "DATABASE_DIRECT_URL": "",
            "DATABASE_PREPARED_STATEMENTS": str(pooler.prepares()).lower(),
            "TILLGATE_ENV": "test",
            "DJANGO_SETTINGS_MODULE": "config.settings",
        }

    def run(self, script: str, file: str, **variables: str) -> str:
        begin = "import django; django.setup()\nfrom django.db import connection\n"
        done = subprocess.run(
            [sys.executable, "-c", begin + script],
            cwd=ROOT,
            env=self.environment(file) | variables,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout.strip()

    def stop(self) -> None:
        self.pooler.stop()
        self.set_rules(self.rules.read_text().replace(RULE, ""))
        with psycopg.connect(self.url, autocommit=True) as owner:
            owner.execute(f"DROP DATABASE {DATABASE} WITH (FORCE)")
            for role in (WEB, WORKER):
                owner.execute(f"ALTER ROLE {role} PASSWORD NULL")


@pytest.fixture(scope="module")
def deployment(
    django_db_setup: None, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Deployment]:
    found = Deployment(tmp_path_factory.mktemp("deployment"))
    yield found
    found.stop()


@pytest.fixture(scope="module")
def key(deployment: Deployment, django_db_blocker: Any) -> str:
    """Of a store in the deployment's database."""
    name = connection.settings_dict["NAME"]
    with django_db_blocker.unblock():
        connection.close()
        connection.settings_dict["NAME"] = DATABASE
        secret = assemble().bakery.secrets["test"]
        connection.close()
        connection.settings_dict["NAME"] = name
    return secret


@pytest.fixture(scope="module")
def port_of_none(deployment: Deployment) -> Iterator[int]:
    """Where a pooler listens that has no PostgreSQL."""
    with deployment.new_pooler(server_port=1) as pooler:
        yield pooler.port


# Web, which is a worker for some jobs. PostgreSQL is there for all but the last request.
ACTS = """
import os, time
from django.test import Client
headers = {"Authorization": "Bearer " + os.environ["KEY"], "Host": "localhost"}
client = Client(headers=headers)
sent = {"customer": {"email": "someone@example.com"}}
made = client.post("/api/v2/billing/customers", sent, content_type="application/json")
found = client.get("/api/v2/billing/customers/" + made.json()["id"])
with connection.cursor() as cursor:
    cursor.execute("SELECT current_user")
    print(made.status_code, found.status_code, found.json()["email"], *cursor.fetchone())
connection.close()

web = dict(connection.settings_dict)
connection.settings_dict.update(USER=os.environ["WORKER"], PASSWORD=os.environ["WORKER_PASSWORD"])
from config.celery import app
app.loader.import_default_modules()
for name in ("core.heartbeat", "payments.settle_deposits", "webhooks.prune"):
    app.tasks[name].apply(throw=True)
with connection.cursor() as cursor:
    cursor.execute("SELECT part, current_user FROM core_heartbeat")
    print(*cursor.fetchone())
connection.close()

connection.settings_dict.update(web, PORT=os.environ["PORT_OF_NONE"])
began = time.monotonic()
refused = client.get("/api/v2/payments")
print(refused.status_code, time.monotonic() - began)
"""


@pytest.mark.pooler
def test_requests_and_jobs_get_through_it_and_are_refused_in_seconds_without_postgresql(
    deployment: Deployment, key: str, port_of_none: int
) -> None:
    worker = urlsplit(deployment.files["worker.env"]["DATABASE_URL"])
    told = deployment.run(
        ACTS,
        "web.env",
        KEY=key,
        WORKER=str(worker.username),
        WORKER_PASSWORD=str(worker.password),
        PORT_OF_NONE=str(port_of_none),
    )
    answered, job, refused = told.splitlines()
    assert answered == f"201 200 someone@example.com {WEB}"
    assert job == f"jobs {WORKER}"
    status, seconds = refused.split()
    assert status == "503"
    assert 4 < float(seconds) < 30  # a request of a browser waits for 60


@pytest.mark.pooler
def test_nobody_gets_through_it_with_another_password(deployment: Deployment) -> None:
    """And PostgreSQL asks for passwords as well, or this would show nothing."""
    for file, role in (("web.env", WEB), ("worker.env", WORKER)):
        password = str(urlsplit(deployment.files[file]["DATABASE_URL"]).password)
        with psycopg.connect(deployment.direct(role, password)) as client:
            assert client.execute("SELECT current_user").fetchone() == (role,)
        with pytest.raises(psycopg.OperationalError, match="password authentication failed"):
            psycopg.connect(deployment.direct(role, "wrong"))
        wrong = deployment.address(file).replace(password, "wrong")
        with pytest.raises(psycopg.OperationalError, match="SASL authentication failed"):
            psycopg.connect(wrong)
    other = deployment.address("web.env").replace(WEB, "tillgate_signer")
    with pytest.raises(psycopg.OperationalError, match="SASL authentication failed"):
        psycopg.connect(other)


@pytest.mark.pooler
def test_the_watchers_role_reads_its_figures_and_changes_nothing(deployment: Deployment) -> None:
    def console(file: str) -> str:
        return deployment.address(file).replace(f"/{DATABASE}", f"/{CONSOLE}")

    assert deployment.files["watcher.env"]["DATABASE_POOLER_CONSOLE"] == "true"
    with psycopg.connect(console("watcher.env"), autocommit=True) as client:
        assert client.execute("SHOW POOLS").fetchall()
        with pytest.raises(psycopg.Error, match="admin access needed"):
            client.execute("PAUSE")
    for file in ("web.env", "worker.env"):
        assert "DATABASE_POOLER_CONSOLE" not in deployment.files[file]
        with pytest.raises(psycopg.OperationalError):
            psycopg.connect(console(file))


@pytest.mark.pooler
def test_its_passwords_are_read_by_nobody_else(deployment: Deployment) -> None:
    files = list(deployment.pooler.folder.iterdir())
    assert {path.name for path in files} == {"users.txt", "pgbouncer.ini"}
    assert not any(path.stat().st_mode & 0o077 for path in files)
