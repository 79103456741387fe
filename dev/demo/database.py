"""The demo's database up to date, looked at before it is touched: at most starts there is nothing
to apply."""

from pathlib import Path

from django.apps import apps
from django.core.management import call_command
from django.db import connection

from dev.progress import ProgressBar
from dev.template_database import AppliedMigrations


def bring_up_to_date() -> None:
    if not is_up_to_date():
        # The checks refuse a database from before a release that it can't skip.
        with ProgressBar("applying the migrations") as bar:
            call_command("migrate", stdout=AppliedMigrations(bar), skip_checks=False)


def is_up_to_date() -> bool:
    """True if every migration on disk has run. Reading their names costs nothing; loading them
    takes seconds."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT to_regclass('django_migrations') IS NOT NULL")
        if cursor.fetchone() != (True,):
            return False
        cursor.execute("SELECT app, name FROM django_migrations")
        return _on_disk() <= set(cursor.fetchall())


def _on_disk() -> set[tuple[str, str]]:
    folders = {config.label: Path(config.path) / "migrations" for config in apps.get_app_configs()}
    return {
        (label, path.stem)
        for label, folder in folders.items()
        for path in folder.glob("*.py")
        if path.stem[0] not in "_~"
    }
