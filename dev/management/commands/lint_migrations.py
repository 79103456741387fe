"""`lint_migrations`: exit 1 and every reason when a migration would stop a service that runs."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError

from dev import migration_rules


class Command(BaseCommand):
    help = "Check migrations against the rules of upgrades without downtime."
    requires_system_checks: list[str] = []

    def handle(self, *args: Any, **options: Any) -> None:
        findings = migration_rules.refused()
        if findings:
            raise CommandError("\n".join(str(finding) for finding in findings))
        self.stdout.write("migrations: nothing stops a running service")
