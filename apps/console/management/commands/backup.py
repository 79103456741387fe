"""`backup`: the database and the files of this machine in one folder that is there whole or not at
all."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError, CommandParser
from msgspec import UNSET, UnsetType
from msgspec.structs import replace

from apps.console.backups import check, create, manifest, sealing
from apps.console.backups.failure import BackupError
from apps.console.backups.manifest import Manifest
from apps.console.backups.sealing import Seal
from apps.stores.command import OperatorCommand, Result


class BackupResult(Result, frozen=True, kw_only=True):
    """The backup, what is kept elsewhere, and the ids of the keys without which it is worth
    nothing."""

    backup: str
    made_at: str
    encryption: str
    bytes: int
    files: list[str]
    kept_elsewhere: list[str]
    keys_needed: dict[str, list[str]]
    manifest: str
    deleted: list[str] | UnsetType = UNSET


class Command(OperatorCommand[BackupResult]):
    help = (
        "Back up the database, logos and reports into a new folder; run it as the owner of the"
        " tables"
    )

    def arguments(self, parser: CommandParser) -> None:
        parser.add_argument("folder", help="folder of all backups; with --verify one backup")
        sealed = parser.add_mutually_exclusive_group()
        sealed.add_argument(
            "--passphrase-file", metavar="FILE", help="encrypt with the passphrase in this file"
        )
        sealed.add_argument(
            "--public-key",
            metavar="FILE",
            help="encrypt for this OpenPGP public key, whose private key is elsewhere",
        )
        sealed.add_argument(
            "--no-encryption",
            action="store_true",
            help="don't encrypt, because the disk is encrypted or nobody else has access",
        )
        parser.add_argument(
            "--verify",
            action="store_true",
            help="check that this backup is complete instead of creating one; with"
            " --passphrase-file also that the passphrase opens every file of it",
        )
        parser.add_argument(
            "--keep", type=int, metavar="N", help="then delete all but the newest N"
        )
        parser.add_argument(
            "--with-key-file",
            action="store_true",
            help="include the signer's key file; anyone who can decrypt the backup then has it",
        )

    def run(self, **options: Any) -> BackupResult:
        folder = Path(options["folder"])
        try:
            if options["verify"]:
                return _verify(folder, options)
            return _make(
                folder, _seal(options), options["keep"], with_key_file=options["with_key_file"]
            )
        except BackupError as error:
            raise CommandError(str(error)) from None


def _verify(folder: Path, options: Mapping[str, Any]) -> BackupResult:
    if options["public_key"] or options["no_encryption"]:
        raise CommandError("--verify takes no other key than --passphrase-file")
    described = check.verify(folder)
    if options["passphrase_file"]:
        check.open_all(folder, described, Path(options["passphrase_file"]))
    return _result(folder, described)


def _seal(options: Mapping[str, Any]) -> Seal:
    if options["passphrase_file"]:
        return Seal(sealing.PASSPHRASE, Path(options["passphrase_file"]))
    if options["public_key"]:
        return Seal(sealing.PUBLIC_KEY, Path(options["public_key"]))
    if options["no_encryption"]:
        return Seal(sealing.NONE)
    raise CommandError(
        "A backup contains customer data: give --passphrase-file, --public-key or --no-encryption"
    )


def _make(parent: Path, seal: Seal, keep: int | None, *, with_key_file: bool) -> BackupResult:
    if keep is not None and keep < 1:
        raise CommandError("--keep must be 1 or more")
    folder = create.make(parent, seal, with_key_file=with_key_file)
    result = _result(folder, check.verify(folder))
    return result if keep is None else replace(result, deleted=check.prune(parent, keep))


def _result(folder: Path, described: Manifest) -> BackupResult:
    return BackupResult(
        backup=str(folder),
        made_at=described.made_at,
        encryption=described.encryption,
        bytes=sum(file.bytes for file in described.files),
        files=[file.name for file in described.files],
        kept_elsewhere=(
            [f"the files in the bucket {described.s3_bucket}"] if described.s3_bucket else []
        ),
        keys_needed={
            "ENCRYPTION_KEYS": described.encryption_keys,
            "APPROVAL_KEYS": described.approval_keys,
        },
        manifest=manifest.NAME,
    )
