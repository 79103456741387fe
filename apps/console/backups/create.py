"""Makes a backup: one folder that is there whole or not at all, of one moment of the database."""

import contextlib
import os
import shutil
from collections.abc import Iterator, Sequence
from datetime import datetime
from pathlib import Path

import msgspec
from django.conf import settings
from django.core.files.storage import storages
from django.db import connection, transaction

from apps.chain.models import Head, HotWallet
from apps.console.backups import manifest, postgresql, sealing
from apps.console.backups.failure import BackupError
from apps.console.backups.manifest import File, Manifest, Wallet
from apps.console.backups.sealing import Seal
from apps.core import clock

PREFIX = "tillgate-"
PARTIAL = ".partial-"
DATABASE = "database.dump"
MEDIA = "media.tar"
PRIVATE = "private.tar"
KEY_FILE = "signer.key"
# What a person compares after a restore.
COUNTED = (
    "ledger_movement",
    "payments_payment",
    "payouts_payout",
    "chain_outgoingtransaction",
    "stores_auditentry",
)
# Files may come and go while tar reads: the database is the record of which there are.
_TAR_CHANGED = (0, 1)


def make(parent: Path, seal: Seal, *, with_key_file: bool) -> Path:
    """A backup in a new folder inside `parent`, named by its time; its path. Raises BackupError,
    and then leaves nothing behind."""
    _check(seal, with_key_file=with_key_file)
    at = clock.real_now()
    name = f"{PREFIX}{at:%Y%m%dT%H%M%SZ}"
    partial = parent / f"{PARTIAL}{name}"
    whole = parent / name
    if whole.exists():
        raise BackupError(f"{whole} already exists")
    partial.mkdir(parents=True, mode=0o700)
    try:
        manifest.write(partial, _write(partial, at, seal, with_key_file=with_key_file))
        _flush(partial)
        partial.rename(whole)
    except BaseException:
        shutil.rmtree(partial, ignore_errors=True)
        raise
    _flush_folder(parent)
    return whole


def local_folders() -> dict[str, Path]:
    """Local folders of files, by the archive's name; empty when a bucket has them."""
    by_name = {MEDIA: storages["default"], PRIVATE: storages["private"]}
    return (
        {}
        if settings.S3_BUCKET
        else {name: Path(storage.path("")) for name, storage in by_name.items()}
    )


def _check(seal: Seal, *, with_key_file: bool) -> None:
    seal.check()
    if settings.DATABASE_POOLER:
        raise BackupError(
            "A backup needs a direct connection to PostgreSQL: set DATABASE_DIRECT_URL to the "
            "server behind the pooler"
        )
    if with_key_file and seal.kind == sealing.NONE:
        raise BackupError("The key file is only copied into an encrypted backup")
    if with_key_file and not Path(settings.SIGNER_KEY_FILE).is_file():
        raise BackupError(
            f"There is no key file {settings.SIGNER_KEY_FILE}: run this where the signer's"
            " files are"
        )


def _write(folder: Path, at: datetime, seal: Seal, *, with_key_file: bool) -> Manifest:
    """All files and what the manifest says, of one snapshot that pg_dump shares."""
    with _moment() as snapshot:
        files = [_dump(folder, snapshot, seal)]
        described = _describe(at, seal)
    files += [_archive(folder, name, path, seal) for name, path in local_folders().items()]
    if with_key_file:
        key_file = ["cat", settings.SIGNER_KEY_FILE]
        files.append(
            sealing.store(key_file, dict(os.environ), folder / f"{KEY_FILE}{seal.suffix}", seal)
        )
    return msgspec.structs.replace(described, files=files)


@contextlib.contextmanager
def _moment() -> Iterator[str]:
    """A transaction in which nothing changes any more; the snapshot that others can share
    meanwhile."""
    with connection.cursor() as cursor:
        cursor.execute("SET default_transaction_isolation = 'repeatable read'")
        try:
            with transaction.atomic(durable=True):
                cursor.execute("SELECT pg_export_snapshot()")
                yield str(cursor.fetchone()[0])
        finally:
            cursor.execute("RESET default_transaction_isolation")


def _dump(folder: Path, snapshot: str, seal: Seal) -> File:
    dsn, environment = postgresql.address()
    command = [
        postgresql.program("pg_dump"),
        "--format=custom",
        "--no-password",
        f"--snapshot={snapshot}",
        f"--dbname={dsn}",
    ]
    return sealing.store(command, environment, folder / f"{DATABASE}{seal.suffix}", seal)


def _archive(folder: Path, name: str, source: Path, seal: Seal) -> File:
    source.mkdir(parents=True, exist_ok=True)
    command = ["tar", "--create", f"--directory={source}", "."]
    return sealing.store(
        command, dict(os.environ), folder / f"{name}{seal.suffix}", seal, may_end_with=_TAR_CHANGED
    )


def _describe(at: datetime, seal: Seal) -> Manifest:
    """The manifest without its files."""
    return Manifest(
        format=manifest.FORMAT,
        made_at=str(clock.iso(at)),
        database=str(connection.settings_dict["NAME"]),
        postgresql=postgresql.server_version(),
        migrations=applied_migrations(),
        encryption=seal.kind,
        encryption_keys=ids_of(settings.ENCRYPTION_KEYS),
        approval_keys=ids_of(settings.APPROVAL_KEYS),
        heads={head.chain_id: head.number for head in Head.objects.order_by("chain_id")},
        hot_wallets={
            wallet.pk: Wallet(wallet.address, wallet.next_nonce)
            for wallet in HotWallet.objects.order_by("pk")
        },
        rows={table: count_of(table) for table in COUNTED},
        s3_bucket=settings.S3_BUCKET,
        files=[],
    )


def applied_migrations() -> list[str]:
    with connection.cursor() as cursor:
        cursor.execute("SELECT app || '.' || name FROM django_migrations ORDER BY 1")
        return [str(name) for (name,) in cursor.fetchall()]


def count_of(table: str) -> int:
    with connection.cursor() as cursor:
        cursor.execute(f'SELECT count(*) FROM "{table}"')  # noqa: S608  # one of COUNTED
        return int(cursor.fetchone()[0])


def ids_of(keys: Sequence[str]) -> list[str]:
    """Of `name:key` the names."""
    return [key.partition(":")[0].strip() for key in keys if ":" in key]


def _flush(folder: Path) -> None:
    """On the disk before it has its name."""
    for path in folder.iterdir():
        with path.open("rb") as file:
            os.fsync(file.fileno())
    _flush_folder(folder)


def _flush_folder(folder: Path) -> None:
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
