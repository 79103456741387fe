"""What a process says of itself to whoever decides where requests go."""

import json
from typing import Any

from django.db import connection
from django.db.migrations.executor import MigrationExecutor
from django.db.migrations.recorder import MigrationRecorder
from django.test import RequestFactory

from apps.console import health


def pending(rf: RequestFactory) -> Any:
    return json.loads(health.readyz(rf.get("/readyz")).content)["migrations"]


def test_a_database_that_is_behind_the_code_is_not_ready(rf: RequestFactory, db: None) -> None:
    assert pending(rf) == {"ready": True, "pending": 0}
    shipped = {name for app, name in health._shipped_migrations() if app == "ledger"}
    MigrationRecorder.Migration.objects.filter(app="ledger", name__in=shipped).delete()
    assert pending(rf) == {"ready": False, "pending": len(shipped)}


def test_the_files_of_migrations_are_what_django_would_run(db: None) -> None:
    loader = MigrationExecutor(connection).loader
    replaced = {one for squashed in loader.replacements.values() for one in squashed.replaces}
    assert health._shipped_migrations() - replaced == set(loader.disk_migrations) - replaced
