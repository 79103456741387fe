"""`lint_migrations`: exit 1 and every reason when a migration is missing, or would stop a service
that runs."""

from typing import Any

from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandError

from dev import migration_rules


class Command(BaseCommand):
    help = "Check that no migration is missing, and none stops a service that runs."
    requires_system_checks: list[str] = []

    def handle(self, *args: Any, **options: Any) -> None:
        call_command("makemigrations", check_changes=True, dry_run=True)
        findings = migration_rules.refused()
        if findings:
            raise CommandError("\n".join(str(finding) for finding in findings))
        self.stdout.write("migrations: nothing stops a running service")
