"""Each role's statements, locks and idle transactions end in time, on any connection of it, and
what needs longer says so."""

import re
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest
from django.core.management import call_command
from django.db import OperationalError, connection, transaction

from apps.audit import role_settings
from apps.audit.grants import ROLES, WEB, WORKER
from apps.core.db.timeouts import long_statements
from dev.pooler import Pooler
from tests import postgres
from tests.roles import acting_as

pytestmark = pytest.mark.django_db
ROOT = Path(__file__).resolve().parents[2]


def show(name: str) -> str:
    with connection.cursor() as cursor:
        cursor.execute(f"SHOW {name}")
        return str(cursor.fetchone()[0])


@pytest.fixture(scope="module")
def pooler(django_db_setup: None) -> Iterator[Pooler]:
    server = Pooler(postgres.direct_url(), ROLES)
    yield server
    server.stop()


@pytest.mark.pooler
@pytest.mark.parametrize("role", ROLES)
def test_a_role_brings_its_timeouts_through_a_pooler(pooler: Pooler, role: str) -> None:
    with psycopg.connect(pooler.url("tillgate", role), autocommit=True) as client:
        expected = role_settings.SETTINGS[role]
        rows = {name: client.execute(f"SHOW {name}").fetchone() for name in expected}
    assert {name: row[0] for name, row in rows.items() if row} == dict(expected)


@pytest.mark.pooler
def test_a_statement_of_the_web_that_hangs_is_ended(pooler: Pooler) -> None:
    with psycopg.connect(pooler.url("tillgate", WEB)) as client:
        client.execute("SET LOCAL statement_timeout = '50ms'")
        with pytest.raises(psycopg.errors.QueryCanceled):
            client.execute("SELECT pg_sleep(5)")


def test_what_an_operator_has_set_stays_and_what_is_missing_is_set() -> None:
    with connection.cursor() as cursor:
        cursor.execute(f"ALTER ROLE {WEB} RESET ALL")
        cursor.execute(f"ALTER ROLE {WEB} SET lock_timeout = '3s'")
    assert role_settings.apply() == len(role_settings.SETTINGS[WEB]) - 1
    assert role_settings.missing() == []
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT setconfig FROM pg_db_role_setting WHERE setrole = %s::regrole", [WEB]
        )
        ((settings,),) = cursor.fetchall()
    assert {"lock_timeout=3s", "statement_timeout=30s"} <= set(settings)


def test_an_owner_who_may_not_change_roles_is_told_what_to_run(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with connection.cursor() as cursor:
        cursor.execute(f"ALTER ROLE {WEB} RESET statement_timeout")
    statement = f"ALTER ROLE {WEB} SET statement_timeout = '30s'"
    refused = pytest.raises(role_settings.NotPermitted, match=re.escape(statement))
    with transaction.atomic(), acting_as(WORKER), refused:
        role_settings.apply()
    call_command("migrate", verbosity=0)
    assert role_settings.missing() == []


def test_what_takes_long_may_take_longer_and_no_longer_than_that() -> None:
    with long_statements(7):
        assert show("statement_timeout") == "7s"
    with connection.cursor() as cursor, pytest.raises(OperationalError), long_statements(1):
        cursor.execute("SELECT pg_sleep(5)")


def test_the_operators_guide_has_the_figures() -> None:
    guide = (ROOT / "docs/operators.md").read_text().replace(" min", "min").replace(" s ", "s ")
    for role, expected in role_settings.SETTINGS.items():
        (row,) = re.findall(rf"^\| `{role}` \| (\d.*)$", guide, re.MULTILINE)
        cells = [cell.strip().partition(";")[0] for cell in row.rstrip("| ").split("|")]
        names = ("statement_timeout", "lock_timeout", "idle_in_transaction_session_timeout")
        assert cells == [expected[name] for name in names]
