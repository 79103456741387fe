"""`migrate`, and then grants and policies: anyone who makes a table says in the same run who may do
what with which of its rows.

A migration that doesn't get its lock in time, or whose index was interrupted, is rolled back and
begins anew (decision 334). What it alone needs is imported when it runs: `check` loads it, too.
"""

import time
from typing import Any

from django.core.management.base import CommandError, CommandParser
from django.core.management.commands import migrate
from django.db import OperationalError, connection
from django.db.migrations import Migration
from psycopg.errors import LockNotAvailable

LOCK_TRIES = 10
# The pause doubles: about four minutes in all, with the five seconds that each try waits.
LOCK_PAUSE_SECONDS = 1.0
LOCK_PAUSE_SECONDS_MAX = 60.0


class Command(migrate.Command):
    _running: Migration | None = None

    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        parser.add_argument(
            "--lock-tries",
            type=int,
            default=LOCK_TRIES,
            help="How often a migration is tried whose lock_timeout runs out.",
        )
        parser.add_argument(
            "--lock-pause",
            type=float,
            default=LOCK_PAUSE_SECONDS,
            help="Seconds before the second try; they double with each.",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        self._refuse_what_is_not_ours()
        self._migrate(args, options)
        if options["plan"] or options["check_unapplied"]:
            return

        from apps.audit import grants, policies, role_settings
        from apps.core.db import uuids

        uuids.apply()
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

    def _refuse_what_is_not_ours(self) -> None:
        """A server that is too old, the database of another program, and one of a release that
        can't be upgraded by this one. Also where the checks are skipped, as a restore and a demo
        do."""
        from apps.core.db import strangers, upgrades
        from apps.core.process import versions

        try:
            versions.require(versions.POSTGRESQL)
            strangers.require_own_database()
            upgrades.require_upgradable(connection.alias)
        except versions.VersionTooOld as error:
            raise CommandError(f"{error}. {versions.POSTGRESQL.remedy}") from None
        except (strangers.AnotherProgramsDatabase, upgrades.UpgradeSkipsRelease) as error:
            raise CommandError(str(error)) from None

    def _migrate(self, args: tuple[Any, ...], options: dict[str, Any]) -> None:
        """All migrations; the one that waits for a lock in vain is tried again, after those that
        are applied already."""
        pause_seconds = options["lock_pause"]
        for attempt in range(1, options["lock_tries"] + 1):
            try:
                super().handle(*args, **options)
                return
            except OperationalError as error:
                if not isinstance(error.__cause__, LockNotAvailable) or self._running is None:
                    raise
                title = f"{self._running.app_label} {self._running.name}"
                if attempt == options["lock_tries"]:
                    raise CommandError(
                        f"{title}: another transaction still holds a lock that it needs, after"
                        f" {attempt} tries. Nothing of it is applied. Run migrate again when less"
                        " is going on."
                    ) from None
            self.stderr.write(
                f"{title}: another transaction holds a lock that it needs; try {attempt + 1} of"
                f" {options['lock_tries']} in {pause_seconds:g} s"
            )
            time.sleep(pause_seconds)
            pause_seconds = min(2 * pause_seconds, LOCK_PAUSE_SECONDS_MAX)

    def migration_progress_callback(
        self, action: str, migration: Migration | None = None, fake: bool = False
    ) -> None:
        if action in ("apply_start", "unapply_start"):
            self._running = migration
        if action == "apply_start" and migration is not None and not fake:
            self._drop_leftovers(migration)
        super().migration_progress_callback(action, migration, fake)

    def _drop_leftovers(self, migration: Migration) -> None:
        """Indexes that are built without a transaction stay, most of them unusable, when building
        is interrupted; the migration begins anew."""
        from django.contrib.postgres.operations import AddIndexConcurrently

        names = [
            operation.index.name
            for operation in migration.operations
            if isinstance(operation, AddIndexConcurrently)
        ]
        with connection.cursor() as cursor:
            cursor.execute(
                "SELECT relname FROM pg_class WHERE relkind = 'i' AND relname = ANY (%s)", [names]
            )
            for (name,) in cursor.fetchall():
                cursor.execute(f"DROP INDEX CONCURRENTLY {connection.ops.quote_name(name)}")
                self.stderr.write(f"{name}: dropped, as an interrupted migration had left it")
