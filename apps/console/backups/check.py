"""Integrity of a backup: every file exists and has its recorded hash. And which of them are old
enough to go."""

import shutil
from pathlib import Path

from apps.console.backups import create, manifest, sealing
from apps.console.backups.failure import BackupError
from apps.console.backups.manifest import Manifest


def verify(folder: Path) -> Manifest:
    """Raises BackupError with everything that is wrong."""
    described = manifest.read(folder)
    wrong = [problem for file in described.files if (problem := _problem(folder, file))]
    if not any(file.name.startswith(create.DATABASE) for file in described.files):
        wrong.append(f"there is no {create.DATABASE}")
    if wrong:
        raise BackupError(f"{folder} is damaged: {'; '.join(wrong)}")
    return described


def open_all(folder: Path, described: Manifest, passphrase: Path) -> None:
    """Decrypt every file, of which nothing stays: anyone who keeps the passphrase elsewhere learns
    before the worst day that it is the right one. Raises BackupError."""
    if described.encryption != sealing.PASSPHRASE:
        raise BackupError(f"{folder} isn't encrypted with a passphrase")
    seal = sealing.Seal(sealing.PASSPHRASE, passphrase)
    seal.check()
    for file in described.files:
        sealing.try_to_open(folder / file.name, seal)


def _problem(folder: Path, file: manifest.File) -> str:
    path = folder / file.name
    if Path(file.name).name != file.name or not path.is_file():
        return f"{file.name} is missing"
    if path.stat().st_size != file.bytes:
        return f"{file.name} has {path.stat().st_size} bytes, expected {file.bytes}"
    return "" if sealing.digest_of(path) == file.sha256 else f"{file.name} has another hash"


def prune(parent: Path, keep: int) -> list[str]:
    """Delete all but the newest `keep` backups, and what interrupted ones have left; the names of
    those deleted."""
    backups = sorted(
        (path for path in parent.glob(f"{create.PREFIX}*") if (path / manifest.NAME).is_file()),
        reverse=True,
    )
    gone = [*backups[keep:], *parent.glob(f"{create.PARTIAL}{create.PREFIX}*")]
    for path in gone:
        shutil.rmtree(path)
    return sorted(path.name for path in gone)
