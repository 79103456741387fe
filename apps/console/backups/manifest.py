"""Description of a backup: `manifest.json`, written last and in plain text. It names keys, and
never holds one."""

from pathlib import Path

import msgspec

from apps.console.backups.failure import BackupError

NAME = "manifest.json"
FORMAT = 1
_SIZE_MAX = 1024 * 1024


class File(msgspec.Struct, frozen=True):
    """A file of the backup, as it lies on the disk."""

    name: str
    bytes: int
    sha256: str


class Wallet(msgspec.Struct, frozen=True):
    address: str
    next_nonce: int


class Manifest(msgspec.Struct, frozen=True):
    """Everything but `files` was read in the snapshot that the dump was made of."""

    format: int
    made_at: str
    database: str
    postgresql: int
    migrations: list[str]
    # none, passphrase or public_key
    encryption: str
    # Ids of ENCRYPTION_KEYS and APPROVAL_KEYS that open and vouch for what is inside.
    encryption_keys: list[str]
    approval_keys: list[str]
    # The newest block that was read, by chain.
    heads: dict[str, int]
    hot_wallets: dict[str, Wallet]
    rows: dict[str, int]
    # The bucket that uploads and reports are kept in; they are no part of the backup then.
    s3_bucket: str
    files: list[File]


def write(folder: Path, manifest: Manifest) -> None:
    text = msgspec.json.format(msgspec.json.encode(manifest), indent=2)
    (folder / NAME).write_bytes(text + b"\n")


def read(folder: Path) -> Manifest:
    """Raises BackupError when the folder holds no backup, or one of a later form."""
    path = folder / NAME
    if not path.is_file():
        raise BackupError(f"{folder} is not a backup: it has no {NAME}")
    if path.stat().st_size > _SIZE_MAX:
        raise BackupError(f"{path} is too large for a manifest")
    try:
        manifest = msgspec.json.decode(path.read_bytes(), type=Manifest)
    except msgspec.DecodeError as error:
        raise BackupError(f"{path} can't be read: {error}") from None
    if manifest.format != FORMAT:
        raise BackupError(
            f"{folder} has format {manifest.format}, and this release reads format {FORMAT}"
        )
    return manifest
