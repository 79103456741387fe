"""Brings a backup back into an empty database, and holds all sending until a person has compared
the chains.

The order is what makes it safe to be interrupted: tables come back without grants in one
transaction, then every hot wallet is halted and deposit addresses are skipped, and only then do the
migrations let other processes see a table.
"""

import os
from dataclasses import dataclass
from pathlib import Path

from django.conf import settings
from django.core.management import call_command
from django.db import connection, transaction
from django.db.migrations.loader import MigrationLoader

from apps.audit import grants
from apps.audit import verify as books
from apps.chain.models import HotWallet
from apps.console.backups import check, create, postgresql, sealing
from apps.console.backups.failure import BackupError
from apps.console.backups.manifest import Manifest
from apps.console.backups.sealing import Seal
from apps.core import clock
from apps.core.db.upgrades import replaced_earlier
from apps.stores.auditing import audit

# Addresses that were handed out after the backup aren't in it, and must never be handed out to
# somebody else.
ADDRESSES_SKIPPED = 1_000_000
HELD = "Restored from a backup: compare with the chain, then resume"
# A plain owner sees of other people's sessions only whose they are: the kind of a session is NULL
# there, and counts as a client. Workers of the server itself belong to nobody.
_OTHERS = """
SELECT DISTINCT usename || coalesce(' (' || nullif(application_name, '') || ')', '')
    FROM pg_stat_activity
WHERE datname = current_database() AND pid <> pg_backend_pid() AND usename IS NOT NULL
    AND backend_type IS DISTINCT FROM 'parallel worker'
    ORDER BY 1
"""


@dataclass(frozen=True)
class Restored:
    manifest: Manifest
    held: list[str]
    findings: list[str]
    with_key_file: bool


def bring_back(
    folder: Path, passphrase: Path | None, replace: str, at_key_file: Path | None
) -> Restored:
    """Verify, restore, hold, migrate and ask the books. `replace` names the database whose content
    may be lost. Raises BackupError.

    What was sealed for a public key is opened with the keyring of the user who runs this.
    """
    manifest = check.verify(folder)
    seal = Seal(manifest.encryption, passphrase)
    _check(manifest, seal, replace, at_key_file)
    _restore_database(folder, seal, replace)
    wallets = _hold()
    call_command("migrate", interactive=False, verbosity=0)
    folders = create.local_folders()
    for name, target in folders.items():
        _restore_files(folder, name, target, manifest, seal)
    if at_key_file is not None:
        _restore_key_file(folder, at_key_file, seal)
    with transaction.atomic():
        audit.record(
            "database.restored",
            name=manifest.made_at,
            reason=HELD,
            details={"held": wallets, "migrations": len(manifest.migrations)},
        )
    findings = [
        f"{finding.invariant}: {finding.subject}: {finding.detail}" for finding in books.findings()
    ]
    return Restored(manifest, wallets, findings, at_key_file is not None)


# --- before anything is touched -------------------------------------------------------------------


def _check(manifest: Manifest, seal: Seal, replace: str, at_key_file: Path | None) -> None:
    if seal.kind == sealing.PASSPHRASE and seal.key is None:
        raise BackupError("The backup is encrypted: give --passphrase-file")
    seal.check()
    if settings.DATABASE_POOLER:
        raise BackupError(
            "A restore needs a direct connection to PostgreSQL: set DATABASE_DIRECT_URL to the "
            "server behind the pooler"
        )
    _check_release(manifest)
    _check_database(replace)
    _check_files(manifest, replace, at_key_file)
    postgresql.program("pg_restore")


def _check_release(manifest: Manifest) -> None:
    if postgresql.server_version() < manifest.postgresql:
        raise BackupError(
            f"The backup is from PostgreSQL {manifest.postgresql}, and this server is older:"
            f" {postgresql.server_version()}"
        )
    loader = MigrationLoader(None)
    migrations = {f"{app}.{name}" for app, name in loader.disk_migrations}
    migrations |= {
        f"{app}.{name}"
        for migration in loader.disk_migrations.values()
        for app, name in {*map(tuple, migration.replaces), *replaced_earlier(migration)}
    }
    if unknown := sorted(set(manifest.migrations) - migrations):
        raise BackupError(
            f"The backup is from a newer release, with {', '.join(unknown[:5])}: install that"
            " release, or a later one"
        )
    if missing := sorted(
        set(manifest.encryption_keys) - set(create.ids_of(settings.ENCRYPTION_KEYS))
    ):
        raise BackupError(
            f"ENCRYPTION_KEYS lacks {', '.join(missing)}: without them secrets in the backup can't"
            " be opened"
        )


def _check_database(replace: str) -> None:
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT current_database(), count(*) FROM pg_class WHERE relnamespace ="
            " 'public'::regnamespace AND relkind IN ('r', 'p')"
        )
        name, tables = cursor.fetchone()
        cursor.execute(
            "SELECT rolname FROM pg_roles WHERE rolname = ANY (%s)", [list(grants.ROLES)]
        )
        missing = sorted(set(grants.ROLES) - {role for (role,) in cursor.fetchall()})
    clients = other_sessions()
    if missing:
        raise BackupError(
            f"There is no role {', '.join(missing)}: run config/postgres/roles.sql first"
        )
    if replace and replace != name:
        raise BackupError(f"The database is {name}, not {replace}")
    if tables and not replace:
        raise BackupError(
            f"Database {name} isn't empty: {tables} tables. Restore into a new one, or give"
            f" --replace {name} to delete its contents"
        )
    if clients:
        raise BackupError(
            f"Other processes are connected to the database: {', '.join(clients)}."
            " Stop every process first"
        )


def other_sessions() -> list[str]:
    """Roles that are connected to this database beside this session, whichever of them asks."""
    with connection.cursor() as cursor:
        cursor.execute(_OTHERS)
        return [str(client) for (client,) in cursor.fetchall()]


def _check_files(manifest: Manifest, replace: str, at_key_file: Path | None) -> None:
    for path in create.local_folders().values():
        if not replace and path.is_dir() and any(path.iterdir()):
            raise BackupError(
                f"{path} isn't empty: move its files away, or give --replace to overwrite them"
            )
    if at_key_file is None:
        return
    if at_key_file.exists():
        raise BackupError(f"{at_key_file} already exists, and a key file is never overwritten")
    if not any(file.name.startswith(create.KEY_FILE) for file in manifest.files):
        raise BackupError("There is no key file in this backup")


# --- the restore ----------------------------------------------------------------------------------


def _restore_database(folder: Path, seal: Seal, replace: str) -> None:
    """Everything or nothing, and no grants: until they are given nobody but the owner sees a
    table or calls a function, which PostgreSQL lets everybody call who may use its schema."""
    dsn, environment = postgresql.address()
    program = postgresql.program("pg_restore")
    with sealing.opened(folder / f"{create.DATABASE}{seal.suffix}", seal) as dump:
        if replace:
            with transaction.atomic(), connection.cursor() as cursor:
                cursor.execute("DROP SCHEMA public CASCADE")
                cursor.execute("CREATE SCHEMA public")
                cursor.execute("ALTER SCHEMA public OWNER TO pg_database_owner")
        with connection.cursor() as cursor:
            cursor.execute("REVOKE USAGE ON SCHEMA public FROM PUBLIC")
        connection.close()
        one_transaction = [
            "--single-transaction",
            "--exit-on-error",
            "--no-owner",
            "--no-privileges",
            "--no-password",
        ]
        postgresql.run([program, *one_transaction, f"--dbname={dsn}", str(dump)], environment)


def _hold() -> list[str]:
    """Halt every wallet and hand out no address twice; the chains that are held.

    The tables may be of an older release: only columns that every release has are named.
    """
    with transaction.atomic():
        # One that was halted before ends its halt by itself no more (apps.chain.sending.doubts).
        HotWallet.objects.exclude(halted_at=None).update(halted_at=clock.real_now())
        HotWallet.objects.filter(halted_at=None).update(
            halted_at=clock.real_now(), halted_reason=HELD
        )
        with connection.cursor() as cursor:
            cursor.execute(
                "SELECT setval('chain_deposit_index', last_value + %s) FROM chain_deposit_index",
                [ADDRESSES_SKIPPED],
            )
        return [
            str(chain)
            for chain in HotWallet.objects.order_by("chain_id")
            .distinct()
            .values_list("chain_id", flat=True)
        ]


def _restore_files(folder: Path, name: str, target: Path, manifest: Manifest, seal: Seal) -> None:
    if not any(file.name == f"{name}{seal.suffix}" for file in manifest.files):
        return
    target.mkdir(parents=True, exist_ok=True)
    with sealing.opened(folder / f"{name}{seal.suffix}", seal) as archive:
        postgresql.run(
            ["tar", "--extract", "--no-same-owner", f"--directory={target}"],
            dict(os.environ),
            archive,
        )


def _restore_key_file(folder: Path, target: Path, seal: Seal) -> None:
    with sealing.opened(folder / f"{create.KEY_FILE}{seal.suffix}", seal) as plain:
        handle = os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(handle, "wb") as file:
            file.write(plain.read_bytes())
