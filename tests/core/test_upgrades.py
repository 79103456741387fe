"""Squashed migrations: databases of before take them as applied, and one that stopped halfway is
told so."""

from typing import Any

import pytest
from django.core.management import call_command
from django.core.management.base import SystemCheckError
from django.db import connection
from django.db.migrations.executor import MigrationExecutor
from django.db.migrations.loader import MigrationLoader

pytestmark = pytest.mark.django_db
SQUASHED = sorted(
    key
    for key, disk_migration in MigrationLoader(None).disk_migrations.items()
    if disk_migration.replaces and disk_migration.__module__.startswith("apps.")
)


def rows(sql: str, *given: Any) -> None:
    with connection.cursor() as cursor:
        cursor.execute(sql, given)


def as_before_they_were_squashed() -> None:
    for app, name in SQUASHED:
        rows("DELETE FROM django_migrations WHERE app = %s AND name = %s", app, name)


def test_a_database_with_all_that_was_replaced_has_nothing_to_do() -> None:
    as_before_they_were_squashed()
    executor = MigrationExecutor(connection)
    assert executor.migration_plan(executor.loader.graph.leaf_nodes()) == []
    call_command("check", databases=["default"])


@pytest.mark.parametrize(("app", "name"), SQUASHED)
def test_a_database_that_stopped_halfway_is_refused_with_one_sentence(app: str, name: str) -> None:
    as_before_they_were_squashed()
    replaced = MigrationLoader(None).disk_migrations[app, name].replaces
    rows("DELETE FROM django_migrations WHERE app = %s AND name = %s", *replaced[-1])
    with pytest.raises(
        SystemCheckError, match=f"{app} has migrations up to before {replaced[-1][1]}"
    ):
        call_command("migrate", verbosity=0, skip_checks=False)


def test_a_new_database_is_not_refused() -> None:
    rows("DELETE FROM django_migrations")
    call_command("check", databases=["default"])
