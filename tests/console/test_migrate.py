"""A migration that would wait for another transaction gives up, lets requests pass, and tries
again."""

from collections.abc import Iterator
from io import StringIO
from pathlib import Path
from typing import Any

import psycopg
import pytest
from django.contrib.postgres.operations import AddIndexConcurrently
from django.core.management import CommandError, call_command
from django.db import connection, migrations, models
from django.db.migrations.recorder import MigrationRecorder

from apps.console.management.commands.migrate import Command

# Indexes are built and dropped beside writes, in no transaction, which a pooled statement is.
pytestmark = pytest.mark.direct

MIGRATION = """
from django.db import migrations


class Migration(migrations.Migration):
    operations = [
        migrations.RunSQL("SET LOCAL lock_timeout = '100ms'", migrations.RunSQL.noop),
        migrations.RunSQL("{sql}", migrations.RunSQL.noop),
    ]
"""
LOCK = "LOCK TABLE core_outgoingmail IN ACCESS EXCLUSIVE MODE"


class Release(StringIO):
    """Output for the operator; the other transaction ends with the first line of it."""

    def __init__(
        self, blocker: "psycopg.Connection[tuple[object, ...]]", *, is_final: bool
    ) -> None:
        super().__init__()
        self.blocker = blocker
        self.is_final = is_final

    def write(self, text: str) -> int:
        if self.is_final:
            self.blocker.rollback()
        return super().write(text)


@pytest.fixture
def blocker() -> Iterator["psycopg.Connection[tuple[object, ...]]"]:
    """Another transaction, which is writing to the table."""
    parameters = connection.get_connection_params()
    address = {
        key: parameters[key]
        for key in ("host", "port", "dbname", "user", "password")
        if key in parameters
    }
    with psycopg.connect(**address) as other:
        other.execute("LOCK TABLE core_outgoingmail IN ROW EXCLUSIVE MODE")
        yield other
        other.rollback()


def migration_of_dev(path: Path, settings: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """A migration for the app `dev`, which has none."""
    package = path / f"migrations_of_{path.name}"
    package.mkdir()
    (package / "__init__.py").write_text("")
    (package / "0001_locks.py").write_text(MIGRATION.format(sql=LOCK))
    monkeypatch.syspath_prepend(str(path))
    settings.MIGRATION_MODULES = {"dev": package.name}


def is_applied() -> bool:
    return ("dev", "0001_locks") in MigrationRecorder(connection).applied_migrations()


@pytest.mark.django_db
def test_it_is_tried_again_until_the_other_transaction_is_over(
    tmp_path: Path,
    settings: Any,
    monkeypatch: pytest.MonkeyPatch,
    blocker: "psycopg.Connection[tuple[object, ...]]",
) -> None:
    migration_of_dev(tmp_path, settings, monkeypatch)
    told = Release(blocker, is_final=True)
    call_command("migrate", "dev", verbosity=0, lock_pause=0.01, stderr=told)
    assert is_applied()
    (line,) = told.getvalue().splitlines()
    assert line == (
        "dev 0001_locks: another transaction holds a lock that it needs; try 2 of 10 in 0.01 s"
    )


@pytest.mark.django_db
def test_it_gives_up_in_the_end_and_nothing_of_it_is_applied(
    tmp_path: Path,
    settings: Any,
    monkeypatch: pytest.MonkeyPatch,
    blocker: "psycopg.Connection[tuple[object, ...]]",
) -> None:
    migration_of_dev(tmp_path, settings, monkeypatch)
    told = Release(blocker, is_final=False)
    with pytest.raises(CommandError, match=r"dev 0001_locks: .* after 3 tries. Nothing of it is"):
        call_command("migrate", "dev", verbosity=0, lock_tries=3, lock_pause=0.01, stderr=told)
    assert [line[-9:] for line in told.getvalue().splitlines()] == ["in 0.01 s", "in 0.02 s"]
    assert not is_applied()


@pytest.fixture
def leftover(django_db_setup: None, django_db_blocker: Any) -> Iterator[str]:
    """An index that was being built when its migration was interrupted; PostgreSQL drops one that
    is in use only outside of a transaction."""
    with django_db_blocker.unblock(), connection.cursor() as cursor:
        cursor.execute("CREATE INDEX leftover_test ON core_outgoingmail (status)")
        yield "leftover_test"
        cursor.execute("DROP INDEX IF EXISTS leftover_test")


def test_what_an_interrupted_migration_has_left_is_dropped_before_it_begins_anew(
    leftover: str,
) -> None:
    index = models.Index(fields=["status"], name=leftover)
    attributes = {"operations": [AddIndexConcurrently("outgoingmail", index)], "atomic": False}
    migration = type("Migration", (migrations.Migration,), attributes)("9999_test", "core")
    told = StringIO()
    command = Command(stderr=told)
    command.verbosity = 0
    with connection.cursor() as cursor:
        find = "SELECT count(*) FROM pg_class WHERE relname = %s"
        command.migration_progress_callback("apply_start", migration, fake=True)
        cursor.execute(find, [leftover])
        assert cursor.fetchone() == (1,)
        command.migration_progress_callback("apply_start", migration)
        cursor.execute(find, [leftover])
        assert cursor.fetchone() == (0,)
    assert told.getvalue() == ("leftover_test: dropped, as an interrupted migration had left it\n")
