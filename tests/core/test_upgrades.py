"""Squashed migrations: databases of before take them as applied, and one that stopped halfway is
refused with the reason."""

import re
from typing import Any

import pytest
from django.conf import settings
from django.core.management import call_command
from django.core.management.base import CommandError, SystemCheckError
from django.db import connection
from django.db.migrations.executor import MigrationExecutor
from django.db.migrations.loader import MigrationLoader

from apps.core.db.upgrades import LAST_BEFORE, replaced_earlier

pytestmark = pytest.mark.django_db
LOADER = MigrationLoader(None)
SQUASHED = sorted(
    key
    for key, disk_migration in LOADER.disk_migrations.items()
    if disk_migration.replaces and disk_migration.__module__.startswith("apps.")
)


def each(keys: list[tuple[str, str]]) -> list[Any]:
    """Each app, or in the suite the first two, whose answers are those of all others."""
    return [pytest.param(*key, marks=() if key in keys[:2] else pytest.mark.whole) for key in keys]


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


@pytest.mark.parametrize(("app", "name"), each(SQUASHED))
def test_a_database_that_stopped_halfway_is_refused_with_one_sentence(app: str, name: str) -> None:
    as_before_they_were_squashed()
    replaced = LOADER.disk_migrations[app, name].replaces
    rows("DELETE FROM django_migrations WHERE app = %s AND name = %s", *replaced[-1])
    with pytest.raises(
        SystemCheckError, match=f"{app} has migrations up to before {replaced[-1][1]}"
    ):
        call_command("migrate", verbosity=0, skip_checks=False)


def test_where_checks_are_skipped_it_is_refused_with_the_same_sentence() -> None:
    """As a demo and a restore skip them: what follows would end in the middle of a trace."""
    as_before_they_were_squashed()
    app, name = SQUASHED[0]
    replaced = LOADER.disk_migrations[app, name].replaces
    rows("DELETE FROM django_migrations WHERE app = %s AND name = %s", *replaced[-1])
    with pytest.raises(CommandError) as refusal:
        call_command("migrate", verbosity=0)
    assert str(refusal.value).startswith(f"{app} has migrations up to before {replaced[-1][1]}")
    assert f"Install release {LAST_BEFORE}" in str(refusal.value)


def test_the_release_to_pass_through_is_in_the_changelog() -> None:
    (commit,) = re.findall(
        rf"^## \[{re.escape(LAST_BEFORE)}\] - .+\n\n.+\(commit ([0-9a-f]{{8}})\)",
        (settings.BASE_DIR / "CHANGELOG.md").read_text(),
        re.MULTILINE,
    )
    assert commit
    notes = (settings.BASE_DIR / "docs/operators.md").read_text()
    assert f"run `migrate` of release {LAST_BEFORE}" in notes


@pytest.mark.parametrize(
    ("app", "name"),
    each([key for key in SQUASHED if replaced_earlier(LOADER.disk_migrations[key])]),
)
def test_a_database_from_before_the_squash_before_is_refused(app: str, name: str) -> None:
    migration = LOADER.disk_migrations[app, name]
    rows("DELETE FROM django_migrations WHERE app = %s", app)
    for earlier in replaced_earlier(migration):
        rows("INSERT INTO django_migrations (app, name, applied) VALUES (%s, %s, now())", *earlier)
    with pytest.raises(
        SystemCheckError, match=f"{app} has migrations up to before {migration.replaces[0][1]}"
    ):
        call_command("migrate", verbosity=0, skip_checks=False)


def test_a_database_that_grew_through_both_squashes_has_nothing_to_do() -> None:
    as_before_they_were_squashed()
    for key in SQUASHED:
        for earlier in replaced_earlier(LOADER.disk_migrations[key]):
            rows(
                "INSERT INTO django_migrations (app, name, applied) VALUES (%s, %s, now())",
                *earlier,
            )
    executor = MigrationExecutor(connection)
    assert executor.migration_plan(executor.loader.graph.leaf_nodes()) == []
    call_command("check", databases=["default"])


def test_a_new_database_is_not_refused() -> None:
    rows("DELETE FROM django_migrations")
    call_command("check", databases=["default"])
