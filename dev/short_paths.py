"""Paths that sockets and PostgreSQL's programs take: a folder of this user's in the temporary one,
for each folder of services. It goes when the services do. Standard library only."""

import hashlib
import os
import re
import shutil
import tempfile
from pathlib import Path

# The longest path of a unix socket, less room for what a server appends to it.
SOCKET_PATH_MAX = 100
_PLAIN = re.compile(rb"[A-Za-z0-9/._+@-]*")
# As it was before the demo's own processes were given another.
TEMPORARY = tempfile.gettempdir()


class NotOurs(RuntimeError):
    """Somebody else has made the folder; the message is the line for the person."""


def folder_of(services: Path) -> Path:
    """Folder of the services, existing or not."""
    return Path(TEMPORARY) / f"tillgate-{os.getuid()}-{digest(services)}"


def digest(path: Path) -> str:
    return hashlib.sha256(os.fsencode(path)).hexdigest()[:16]


def make(services: Path, name: str = "") -> Path:
    """The folder, for this user only, and one in it. Raises NotOurs."""
    short = folder_of(services)
    short.mkdir(mode=0o700, exist_ok=True)
    if short.is_symlink() or short.stat().st_uid != os.getuid():
        raise NotOurs(f"{short} belongs to somebody else; set TILLGATE_VAR to another folder")
    (short / name).mkdir(exist_ok=True)
    return short / name


def make_beside(services: Path, name: str) -> Path:
    """A new folder outside of it, which may be given to another user; it goes with it."""
    short = folder_of(services)
    return Path(tempfile.mkdtemp(prefix=f"{short.name}-{name}-", dir=short.parent))


def is_short(path: Path) -> bool:
    """True if a socket can have this path, and it can be in an address and a command line."""
    text = os.fsencode(path)
    return len(text) <= SOCKET_PATH_MAX and _PLAIN.fullmatch(text) is not None


def remove(services: Path) -> None:
    remove_short(folder_of(services))


def remove_short(short: Path) -> None:
    """The folder by its own path, and those beside it."""
    for folder in (short, *short.parent.glob(f"{short.name}-*")):
        shutil.rmtree(folder, ignore_errors=True)
