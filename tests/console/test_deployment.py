"""Settings of a deployment in .env.example and compose.yaml agree with those that the code
reads."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from apps.core.process.published_secrets import PUBLISHED
from config import environment, reader
from config.celery import app as celery

ROOT = Path(__file__).resolve().parents[2]
# Used by compose.yaml alone.
COMPOSE_ONLY = {
    "REDIS_PASSWORD",
    *re.findall(r"\$\{((?:POSTGRES|POOLER)_\w+)", (ROOT / "compose.yaml").read_text()),
}
PRODUCTION = {
    "TILLGATE_ENV": "production",
    "PUBLIC_URL": "https://pay.example.com",
    "SECRET_KEY": "SjACiHiUARVrFEOGdl73QyJKgiLkeY2WXOq1SuQHpeJyNm-VyEQD3RS7DYP0RocjqyU",
    "ENCRYPTION_KEYS": "one:AiS8yTjV3njMierImF58cVOMeUW8bKA7rwDg7PpgCSM=",
    "DEPOSIT_XPUB_LIVE": "xpub-live",
    "DEPOSIT_XPUB_TEST": "xpub-test",
    "METRICS_TOKEN": "_2LVsY2er4C_dGf00VdES7-yoaHf2va3",
    "DATABASE_URL": "postgresql://nobody@localhost:1/nothing",
    "REDIS_URL": "redis://:cG9ydHVndWVzZS1zYXJkaW5l@localhost:1/0",
    "EMAIL_HOST": "smtp.example.com",
    "EMAIL_USE_TLS": "true",
}


def variables_explained() -> set[str]:
    return set(
        re.findall(r"^#?([A-Z][A-Z0-9_]*)=", (ROOT / ".env.example").read_text(), re.MULTILINE)
    )


def test_every_variable_that_is_read_is_explained_and_the_reverse() -> None:
    assert variables_explained() - COMPOSE_ONLY == environment.env.names
    assert (
        COMPOSE_ONLY | environment.env.names == variables_explained()
        and COMPOSE_ONLY <= reader.OTHERS
    )


def test_the_environment_is_read_in_one_place() -> None:
    """Names that are read elsewhere would be refused as unknown."""
    for path in (ROOT / "config").glob("*.py"):
        if path.name not in ("environment.py", "reader.py"):
            assert not re.search(r"\benv\.(str|int|bool|list|json|float)\(", path.read_text()), path


def test_the_example_holds_no_published_secret() -> None:
    text = (ROOT / ".env.example").read_text()
    assert not [name for name, value in PUBLISHED.items() if value in text]


def test_the_logs_of_every_container_have_a_size() -> None:
    services = yaml.safe_load((ROOT / "compose.yaml").read_text())["services"]
    sizes = {name: service.get("logging", {}).get("options") for name, service in services.items()}
    assert set(map(str, sizes.values())) == {"{'max-size': '10m', 'max-file': '5'}"}, sizes


def test_compose_runs_each_process_once_and_publishes_only_the_web_and_its_proxy() -> None:
    services = yaml.safe_load((ROOT / "compose.yaml").read_text())["services"]
    assert {
        "migrate",
        "web",
        "worker",
        "reports",
        "beat",
        "watcher",
        "signer",
        "postgres",
        "redis",
    } <= set(services)
    holders = [
        name
        for name, service in services.items()
        if "signer.env" in service.get("env_file", []) or "keys" in str(service.get("volumes"))
    ]
    assert holders == ["signer"]
    assert [name for name, service in services.items() if service.get("ports")] == ["web", "proxy"]
    assert all(port.startswith("127.0.0.1:") for port in services["web"]["ports"])


FOLDERS = """
import json, os
from django.conf import settings
from config.celery import app
options = [storage.get("OPTIONS", {}) for storage in settings.STORAGES.values()]
folders = [option["location"] for option in options if "location" in option]
beat = os.path.dirname(app.conf.beat_schedule_filename)
print(json.dumps({"shared": folders, "beat": beat, "mail": settings.EMAIL_BACKEND}))
"""
INSIDE = "/srv/tillgate"


def mounts(service: dict[str, Any]) -> set[str]:
    return {str(item).split(":")[1] for item in service.get("volumes", ())} | set(
        service.get("tmpfs", ())
    )


def test_every_folder_that_is_written_to_is_a_volume_where_the_rest_can_not_be_written() -> None:
    """Files that web and workers share outlive a container; beat's own notes needn't."""
    kept = {name: os.environ[name] for name in ("PATH", "HOME", "LANG") if name in os.environ}
    environ = (
        kept
        | PRODUCTION
        | {
            "TILLGATE_VAR": f"{INSIDE}/var",
            "DJANGO_SETTINGS_MODULE": "config.settings",
        }
    )
    run = subprocess.run(
        [sys.executable, "-c", FOLDERS],
        env=environ,
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    written = json.loads(run.stdout)
    assert {Path(item).name for item in written["shared"]} == {"media", "private"}
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
    assert all(
        "/tmp" in mounts(service)
        for service in compose["services"].values()
        if service.get("read_only")
    )
    made = re.findall(r"mkdir -p (.*?) &&", (ROOT / "Dockerfile").read_text())[0].split()
    assert {f"{INSIDE}/{item}" for item in made} >= {*written["shared"], str(Path(schedule).parent)}


def start(environment: dict[str, str]) -> "subprocess.CompletedProcess[str]":
    """Start of every process, with this environment and nothing else of ours."""
    command = [sys.executable, "-c", "import config.environment"]
    kept = {name: os.environ[name] for name in ("PATH", "HOME", "LANG") if name in os.environ}
    return subprocess.run(
        command,
        env=kept | environment,
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )


def test_every_queue_has_a_worker_and_live_money_waits_for_no_report_and_no_test() -> None:
    services = yaml.safe_load((ROOT / "compose.yaml").read_text())["services"].values()
    commands = [
        service["command"] for service in services if "worker" in service.get("command", ())
    ]
    served = [command[command.index("--queues") + 1] for command in commands]
    assert (
        sorted(served)
        == sorted(celery.amqp.queues)
        == ["celery", "documents", "reports", "test", "test_clocks", "webhooks"]
    )
    routed = {
        name: celery.amqp.router.route({}, name)["queue"]
        for name in ("reports.generate", "payouts.advance")
    }
    assert {name: (queue.name, queue.routing_key) for name, queue in routed.items()} == {
        "reports.generate": ("reports", "reports"),
        "payouts.advance": ("celery", "celery"),
    }
    runs = celery.conf.beat_schedule
    sending = (
        "chain.send_due",
        "chain.sweep",
        "payouts.advance",
        "payments.advance_refunds",
        "swaps.advance",
        "swaps.auto_swap",
    )
    for name in (*sending, "agents.advance_settlements", "agents.advance_x402"):
        assert {mode: runs[f"{name}:{mode}"]["options"]["queue"] for mode in ("live", "test")} == {
            "live": "celery",
            "test": "test",
        }
        assert {runs[f"{name}:{mode}"]["kwargs"]["mode"] for mode in ("live", "test")} == {
            "live",
            "test",
        }


def test_each_process_is_given_its_own_way_into_the_database_and_no_other() -> None:
    """Passwords of other roles, keys of approvals and the passphrase are in files that the process
    doesn't get."""
    services = yaml.safe_load((ROOT / "compose.yaml").read_text())["services"]
    given = {
        name: service["env_file"] for name, service in services.items() if "env_file" in service
    }
    assert given == {
        **{name: [".env", "owner.env"] for name in ("migrate", "backup")},
        "web": [".env", "web.env"],
        **{
            name: [".env", "worker.env", "approvals.env"]
            for name in ("worker", "worker-test", "clocks")
        },
        **{
            name: [".env", "worker.env"]
            for name in ("reports", "documents", "webhooks", "beat", "audit")
        },
        "watcher": [".env", "watcher.env"],
        "signer": [".env", "approvals.env", "signer.env"],
        "pooler": ["pooler.env"],
        "postgres": ["postgres.env"],
    }
    assert not any("POSTGRES_PASSWORD" in str(service) for service in services.values())


def test_the_files_of_the_processes_are_written_once_and_agree(tmp_path: Path) -> None:
    run = ["sh", str(ROOT / "config/postgres/new_env.sh")]
    subprocess.run(run, cwd=tmp_path, check=True)
    told = {
        path.stem: dict(line.split("=", 1) for line in path.read_text().splitlines())
        for path in tmp_path.glob("*.env")
    }
    assert not any(path.stat().st_mode & 0o077 for path in tmp_path.glob("*.env"))
    roles = {
        "owner": "",
        "web": "WEB_",
        "worker": "WORKER_",
        "watcher": "WATCHER_",
        "signer": "SIGNER_",
        "reader": "READER_",
    }
    passwords = {name: told["postgres"][f"POSTGRES_{role}PASSWORD"] for name, role in roles.items()}
    assert len(set(passwords.values())) == len(roles)
    users = {name: "tillgate" if name == "owner" else f"tillgate_{name}" for name in roles}
    through_pooler = {"web", "worker", "watcher"}
    for name in roles:
        direct = f"postgresql://{users[name]}:{passwords[name]}@postgres:5432/tillgate"
        expected = {"DATABASE_URL": direct}
        if name in through_pooler:
            expected = {
                "DATABASE_URL": direct.replace("@postgres:", "@pooler:"),
                "DATABASE_POOLER": "true",
                "DATABASE_PREPARED_STATEMENTS": "true",
                "DATABASE_DIRECT_URL": direct,
            }
        assert told[name].items() >= expected.items()
    made = {
        name: told[file][name]
        for file, name in (("approvals", "APPROVAL_KEYS"), ("signer", "SIGNER_PASSPHRASE"))
    }
    for name in through_pooler:
        assert start(PRODUCTION | made | told[name]).returncode == 0
    again = subprocess.run(run, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert again.returncode == 1 and "never overwritten" in again.stderr


@pytest.mark.parametrize("way", [(), ("--without-pooler",)])
def test_an_earlier_release_is_given_the_watchers_file(
    tmp_path: Path, way: tuple[str, ...]
) -> None:
    """As if its files had been written before the watcher had a role."""
    script = str(ROOT / "config/postgres/new_env.sh")
    subprocess.run(["sh", script, *way], cwd=tmp_path, check=True)
    (tmp_path / "watcher.env").unlink()
    for path in tmp_path.glob("*.env"):
        lines = path.read_text().splitlines(keepends=True)
        path.write_text("".join(line for line in lines if "POSTGRES_WATCHER" not in line))
    before = {path.name: path.read_text() for path in tmp_path.glob("*.env")}

    subprocess.run(["sh", script, "--watcher"], cwd=tmp_path, check=True)
    told = (tmp_path / "postgres.env").read_text().splitlines()[-1]
    name, _, password = told.partition("=")
    assert name == "POSTGRES_WATCHER_PASSWORD" and len(password) == 48
    assert (tmp_path / "pooler.env").read_text().endswith(f"{told}\n")
    worker = before["worker.env"].split("tillgate_worker:")[1].partition("@")[0]
    assert (tmp_path / "watcher.env").read_text() == before["worker.env"].replace(
        f"tillgate_worker:{worker}", f"tillgate_watcher:{password}"
    )
    assert all((tmp_path / name).read_text().startswith(text) for name, text in before.items())
    again = subprocess.run(["sh", script, "--watcher"], cwd=tmp_path, capture_output=True)
    assert again.returncode == 1 and b"never overwritten" in again.stderr
