"""The migrated database that tests and demos begin with: it is what the migrations make, and new
ones make a new one."""

from pathlib import Path

import pytest
from django.db import connection
from django.db.migrations.executor import MigrationExecutor

from dev import template_database
from dev.demo import database


@pytest.mark.django_db
def test_every_migration_has_run_in_the_database_of_the_tests() -> None:
    executor = MigrationExecutor(connection)
    assert executor.migration_plan(executor.loader.graph.leaf_nodes()) == []


@pytest.mark.django_db
def test_what_migrations_bring_is_there() -> None:
    with connection.cursor() as cursor:
        cursor.execute("SELECT count(*) FROM assets_chain")
        chains = cursor.fetchone()
        cursor.execute("SELECT count(*) FROM django_content_type")
        kinds = cursor.fetchone()
        cursor.execute("SELECT count(*) FROM pg_trigger WHERE NOT tgisinternal")
        triggers = cursor.fetchone()
    assert min(chains[0], kinds[0], triggers[0]) > 1


@pytest.mark.parametrize(
    "name",
    [
        "apps/ledger/migrations/0001_any.py",
        "apps/audit/grants.txt",
        "requirements/base.txt",
    ],
)
def test_a_change_of_what_decides_its_content_makes_a_new_one(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / name).parent.mkdir(parents=True)
    (tmp_path / name).write_text("one")
    (tmp_path / "README.md").write_text("one")
    monkeypatch.setattr(template_database, "ROOT", tmp_path)
    before = template_database.state()
    (tmp_path / "README.md").write_text("two")
    assert template_database.state() == before
    (tmp_path / name).write_text("two")
    assert template_database.state() != before


@pytest.mark.django_db
def test_a_demo_applies_migrations_only_when_one_has_not_run() -> None:
    assert database.is_up_to_date()
    with connection.cursor() as cursor:
        cursor.execute(
            "DELETE FROM django_migrations WHERE app = 'ledger' AND name LIKE '0001_squashed%'"
        )
    assert not database.is_up_to_date()
