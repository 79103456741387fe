"""`sql_files`: what the database promises, printed or written to `apps/*/sql/`."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.db import connection
from django.db.migrations.executor import MigrationExecutor

from dev import sql_files


class Command(BaseCommand):
    help = "Print each function, trigger and view of the database; --write refreshes apps/*/sql/."
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--write", action="store_true", help="Refresh the files.")

    def handle(self, *args: Any, **options: Any) -> None:
        executor = MigrationExecutor(connection)
        if executor.migration_plan(executor.loader.graph.leaf_nodes()):
            raise CommandError("Apply the migrations first: python3 manage.py migrate")
        database = sql_files.of_database()
        if not options["write"]:
            for path, text in sorted(database.items()):
                self.stdout.write(f"-- {path.relative_to(sql_files.ROOT)}\n{text}")
            return
        for path in sql_files.write(database):
            self.stdout.write(str(path.relative_to(sql_files.ROOT)))
        for difference in sql_files.differences(database):
            self.stderr.write(str(difference))
