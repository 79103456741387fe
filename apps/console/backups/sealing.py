"""Encryption of a backup by GnuPG, which every Debian has: by a passphrase, or for a public key
whose private half is elsewhere.

Data go through pipes, so nothing unencrypted touches the disk, and memory doesn't grow with their
size.
"""

import contextlib
import hashlib
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from apps.console.backups.failure import BackupError
from apps.console.backups.manifest import File

NONE = "none"
PASSPHRASE = "passphrase"  # noqa: S105  # the name of a kind
PUBLIC_KEY = "public_key"
SUFFIX = ".gpg"
_CHUNK = 1024 * 1024
_PASSPHRASE_LENGTH_MIN = 20


@dataclass(frozen=True)
class Seal:
    """Encryption of files: `key` is the file with the passphrase or the public key."""

    kind: str
    key: Path | None = None

    def check(self) -> None:
        """Raises BackupError for a file that isn't there, or a passphrase that anybody guesses."""
        if self.key is None:
            return
        if not self.key.is_file():
            raise BackupError(f"There is no file {self.key}")
        if self.kind == PASSPHRASE and len(self.key.read_text().strip()) < _PASSPHRASE_LENGTH_MIN:
            raise BackupError(
                f"The passphrase in {self.key} is shorter than {_PASSPHRASE_LENGTH_MIN} characters"
            )

    @property
    def suffix(self) -> str:
        return "" if self.kind == NONE else SUFFIX


def store(
    command: Sequence[str],
    environment: dict[str, str],
    target: Path,
    seal: Seal,
    may_end_with: tuple[int, ...] = (0,),
) -> File:
    """Writes a command's output to an encrypted file. Raises BackupError when either program
    fails."""
    with contextlib.ExitStack() as stack:
        errors = stack.enter_context(tempfile.TemporaryFile())
        making = stack.enter_context(
            subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=errors)
        )
        ends = [(making, command[0], may_end_with)]
        source = _pipe(making)
        if seal.kind != NONE:
            home = stack.enter_context(_home())
            sealing = stack.enter_context(
                subprocess.Popen(
                    _encrypt(seal, home), stdin=source, stdout=subprocess.PIPE, stderr=errors
                )
            )
            source.close()
            source = _pipe(sealing)
            ends.append((sealing, "gpg", (0,)))
        size, digest = _write(source, target)
        # Anyone who comes first in a pipe dies of the next one's failure: the last one's is the
        # cause.
        for process, name, may in reversed(ends):
            if process.wait() not in may:
                errors.seek(0)
                raise BackupError(
                    f"{Path(name).name} failed:"
                    f" {errors.read().decode(errors='replace').strip()[-2000:]}"
                )
    return File(target.name, size, digest)


@contextlib.contextmanager
def opened(path: Path, seal: Seal) -> Iterator[Path]:
    """The file in plain, for as long as it is needed: itself, or what GnuPG makes of it in a folder
    that nobody else reads."""
    if seal.kind == NONE:
        yield path
        return
    with tempfile.TemporaryDirectory(prefix=".opened-", dir=path.parent) as folder:
        plain = Path(folder) / path.name.removesuffix(SUFFIX)
        _decrypt(path, seal, "--output", str(plain))
        yield plain


def try_to_open(path: Path, seal: Seal) -> None:
    """Decrypt the whole file to nowhere. Raises BackupError when the key is another one, or the
    file was damaged before it was sealed."""
    _decrypt(path, seal)


def _decrypt(path: Path, seal: Seal, *output: str) -> None:
    with _home() as home:
        keys = ["--homedir", str(home), *_passphrase(seal)] if seal.kind == PASSPHRASE else []
        command = ["gpg", "--batch", "--no-tty", "--quiet", *keys, *output, "--decrypt", str(path)]
        done = subprocess.run(
            command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, check=False
        )
    if done.returncode:
        raise BackupError(f"{path.name} can't be decrypted: {done.stderr.strip()[-2000:]}")


def digest_of(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _encrypt(seal: Seal, home: Path) -> list[str]:
    common = [
        "gpg",
        "--batch",
        "--no-tty",
        "--quiet",
        "--homedir",
        str(home),
        "--compress-algo",
        "none",
        "--cipher-algo",
        "AES256",
    ]
    if seal.kind == PASSPHRASE:
        return [
            *common,
            *_passphrase(seal),
            "--s2k-digest-algo",
            "SHA512",
            "--s2k-count",
            "65011712",
            "--symmetric",
        ]
    return [*common, "--trust-model", "always", "--recipient-file", str(seal.key), "--encrypt"]


def _passphrase(seal: Seal) -> list[str]:
    return ["--pinentry-mode", "loopback", "--passphrase-file", str(seal.key)]


@contextlib.contextmanager
def _home() -> Iterator[Path]:
    """A home of GnuPG's own: nothing of the user who runs the command is read, and its agent ends
    with it."""
    with tempfile.TemporaryDirectory(
        prefix="gpg-", dir="/tmp"
    ) as folder:  # its socket's path has to be short
        try:
            yield Path(folder)
        finally:
            subprocess.run(
                ["gpgconf", "--homedir", folder, "--kill", "all"], capture_output=True, check=False
            )


def _write(source: IO[bytes], target: Path) -> tuple[int, str]:
    digest = hashlib.sha256()
    size = 0
    with target.open("wb") as file:
        while chunk := source.read(_CHUNK):
            digest.update(chunk)
            size += file.write(chunk)
        file.flush()
    return size, digest.hexdigest()


def _pipe(process: "subprocess.Popen[bytes]") -> IO[bytes]:
    assert process.stdout is not None
    return process.stdout
