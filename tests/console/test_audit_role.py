"""The nightly audit, run as the three deployments run it: its command, and the role whose secrets
they give it."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
import yaml
from django.core.management import call_command
from django.db import connection, transaction

from apps.audit import kept, verify
from apps.audit.grants import WORKER
from apps.audit.invariants import INVARIANTS
from apps.audit.models import VerifiedPoint
from apps.core.invariant import Invariant
from tests import make
from tests.cast import Shop
from tests.roles import acting_as
from tests.swaps.conftest import Venue, chain, place, proxy, watcher

__all__ = ["chain", "place", "proxy", "watcher"]
ROOT = Path(__file__).resolve().parents[2]
COMMAND = ["verify_ledger", "--chain", "--since", "last", "--whole-days", "7"]


def of_systemd() -> tuple[list[str], str]:
    unit = (ROOT / "deploy/systemd/tillgate-audit.service").read_text()
    (command,) = re.findall(r"^ExecStart=\S+ manage.py (.+)$", unit, re.MULTILINE)
    names = re.findall(r"^EnvironmentFile=/etc/tillgate/(.+)\.env$", unit, re.MULTILINE)
    assert names[:-1] == ["tillgate"]
    return command.split(), names[-1]


def of_compose() -> tuple[list[str], str]:
    service = yaml.safe_load((ROOT / "compose.yaml").read_text())["services"]["audit"]
    assert service["env_file"][:-1] == [".env"]
    return service["command"][2:], service["env_file"][-1].removesuffix(".env")


def of_chart() -> tuple[list[str], str]:
    template = (ROOT / "deploy/helm/tillgate/templates/audit.yaml").read_text()
    (command,) = re.findall(r"args: \[python, manage.py, (.+)\]", template)
    (secrets,) = re.findall(r'"secrets" \(list "(\w+)"\)', template)
    return [word.strip('"') for word in command.split(", ")], secrets


@pytest.mark.parametrize("deployment", [of_systemd, of_compose, of_chart])
def test_the_nightly_audit_runs_as_the_worker(deployment: Any) -> None:
    command, secrets = deployment()

    (role,) = re.findall(
        rf'pooled (\w+) "\${secrets}"', (ROOT / "config/postgres/new_env.sh").read_text()
    )
    assert (command, role) == (COMMAND, WORKER)


@pytest.mark.chain
def test_the_worker_verifies_everything_and_makes_a_point(
    place: Venue, bakery: Shop, capsys: Any
) -> None:
    make.paid(bakery.test)

    for _ in range(2):
        with acting_as(WORKER):
            call_command(*COMMAND, "--json")

    first, second = VerifiedPoint.objects.order_by("pk")
    assert (first.is_whole, first.is_with_chain) == (True, True)
    assert (second.is_whole, second.is_with_chain, second.since) == (False, True, first)
    asked = json.loads(capsys.readouterr().out.splitlines()[-1])["invariants"]
    assert {item.name for item in INVARIANTS} < {answer["name"] for answer in asked}


def test_a_refused_query_is_a_finding_and_the_others_are_asked(bakery: Shop, capsys: Any) -> None:
    make.paid(bakery.test)
    with connection.cursor() as cursor:
        cursor.execute("REVOKE SELECT ON stores_countedmerchant FROM tillgate_worker")

    with acting_as(WORKER), pytest.raises(SystemExit):
        call_command("verify_ledger", "--json")

    verdicts = {item["name"]: item for item in json.loads(capsys.readouterr().out)["invariants"]}
    (finding,) = verdicts["merchants_counted"]["findings"]
    assert "permission denied for table stores_countedmerchant" in finding["detail"]
    assert [*[item.name for item in INVARIANTS], kept.NAME] == list(verdicts)
    assert verdicts["movements_balance"]["counted"] == 2
    assert not VerifiedPoint.objects.exists()


def test_a_query_that_fails_is_a_finding(bakery: Shop, monkeypatch: Any) -> None:
    broken = Invariant("divides", "It divides", "SELECT 1", "SELECT 'x', (1 / 0)::text")
    monkeypatch.setattr(verify, "INVARIANTS", (broken, *INVARIANTS[-2:]))
    with transaction.atomic():
        answers = verify.verdicts()

    assert [(verdict.name, verdict.broken) for verdict in answers] == [
        ("divides", 1),
        *[(item.name, 0) for item in INVARIANTS[-2:]],
        (kept.NAME, 0),
    ]
    assert answers[0].findings[0].detail == "PostgreSQL didn't answer it: division by zero"
