"""`migrate`, and then grants and policies: whoever makes a table says in the same run who may do
what with which of its rows."""

from typing import Any

from django.core.management.base import CommandError
from django.core.management.commands import migrate

from apps.audit import grants, policies, role_settings


class Command(migrate.Command):
    def handle(self, *args: Any, **options: Any) -> None:
        super().handle(*args, **options)
        if options["plan"] or options["check_unapplied"]:
            return
        try:
            changed = grants.apply()
        except grants.RoleMissing as error:
            raise CommandError(str(error)) from None
        if options["verbosity"] >= 1:
            self.stdout.write(f"grants: {changed} changed" if changed else "grants: up to date")
        changed = policies.apply()
        if options["verbosity"] >= 1:
            self.stdout.write(
                f"policies: of {changed} tables changed" if changed else "policies: up to date"
            )
        try:
            role_settings.apply()
        except role_settings.NotPermitted as error:
            self.stderr.write(f"timeouts: as a role that may change roles, run:\n{error}")
