"""Check of upgrades: each migration that replaces others finds all of them applied, or none."""

from collections.abc import Sequence
from typing import Any

from django.core.checks import CheckMessage, Error
from django.db import DatabaseError, connections
from django.db.migrations import Migration
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.recorder import MigrationRecorder

# The last release that has the migrations which these have replaced (CHANGELOG.md).
LAST_BEFORE = "0.2.0"


class UpgradeSkipsRelease(Exception):
    """The database is older than this release can upgrade; the message says what to do."""


def require_upgradable(alias: str) -> None:
    """Raises UpgradeSkipsRelease: also where checks are skipped, as a restore and a demo do."""
    for message in _partly(alias):
        raise UpgradeSkipsRelease(f"{message.msg}. {message.hint}")


def check_upgrade(
    app_configs: Any, databases: Sequence[str] | None = None, **_: Any
) -> list[CheckMessage]:
    """Stops `migrate` with a sentence instead of in the middle."""
    return [message for alias in databases or () for message in _partly(alias)]


def replaced_earlier(migration: Migration) -> set[tuple[str, str]]:
    """Migrations that were replaced by those that this one replaces: databases that grew keep the
    names for ever, others never had them."""
    return {(app, name) for app, name in getattr(migration, "replaced_earlier", ())}


def _partly(alias: str) -> list[CheckMessage]:
    try:
        applied = set(MigrationRecorder(connections[alias]).applied_migrations())
    except DatabaseError:
        return []  # migrate says it better
    loader = MigrationLoader(None)
    messages: list[CheckMessage] = []
    for key, migration in loader.disk_migrations.items():
        missing = [
            migration_key
            for migration_key in migration.replaces
            if tuple(migration_key) not in applied
        ]
        if all(tuple(migration_key) in loader.disk_migrations for migration_key in missing):
            continue  # they can still be applied one by one
        has_begun = len(missing) < len(migration.replaces) or not applied.isdisjoint(
            replaced_earlier(migration)
        )
        if key not in applied and missing and has_begun:
            text = (
                f"{key[0]} has migrations up to before {missing[0][1]}, which {key[1]} has replaced"
            )
            hint = (
                f"Install release {LAST_BEFORE}, the last that has them, run migrate there, then"
                " come back (docs/operators.md, Upgrades)."
            )
            messages.append(Error(text, hint=hint, id="core.E001"))
    return messages
