"""Programs of the machine that some tests need and nobody installs for them: both come with a
server that would run from then on."""

import os
import shutil
from pathlib import Path

_POSTGRES = Path("/usr/lib/postgresql")


def nginx() -> str | None:
    """The router before several servers, which Debian puts where only root looks."""
    return shutil.which("nginx", path=f"{os.environ.get('PATH', '')}:/usr/sbin:/usr/local/sbin")


def postgres_with_fdw() -> Path | None:
    """The programs of the newest PostgreSQL that reads other servers; the embedded one can't."""
    libraries = _POSTGRES.glob("*/lib/postgres_fdw.so")
    folders = [path.parent.parent / "bin" for path in libraries]
    whole = [folder for folder in folders if (folder / "initdb").exists()]
    return max(whole, key=lambda folder: int(folder.parent.name), default=None)
