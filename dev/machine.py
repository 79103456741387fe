"""Programs of the machine that some tests need and nobody installs for them: both come with a
server that would run from then on. The router's program alone is unpacked, beside other tools."""

import os
import shutil
import subprocess
import tempfile
from pathlib import Path

_POSTGRES = Path("/usr/lib/postgresql")
_UNPACKED = Path(__file__).resolve().parent.parent / ".tools" / "nginx"


def nginx() -> str | None:
    """The router before several servers, which Debian puts where only root looks."""
    path = f"{os.environ.get('PATH', '')}:/usr/sbin:/usr/local/sbin:{_UNPACKED / 'usr' / 'sbin'}"
    return shutil.which("nginx", path=path)


def unpack_nginx() -> None:
    """Debian's package without installing it, which takes no root and starts nothing. Never fatal:
    without it the tests of a router are skipped and counted."""
    with tempfile.TemporaryDirectory() as folder:
        fetch = subprocess.run(
            ["apt-get", "download", "-q", "nginx"], cwd=folder, capture_output=True, check=False
        )
        for package in Path(folder).glob("nginx_*.deb"):
            subprocess.run(["dpkg-deb", "-x", package, _UNPACKED], capture_output=True, check=False)
    if not nginx():
        reason = fetch.stderr.decode(errors="replace").strip().rpartition("\n")[2]
        print(f"!!! NO ROUTER: its tests will be skipped ({reason}).", flush=True)


def postgres_with_fdw() -> Path | None:
    """The programs of the newest PostgreSQL that reads other servers; the embedded one can't."""
    libraries = _POSTGRES.glob("*/lib/postgres_fdw.so")
    folders = [path.parent.parent / "bin" for path in libraries]
    whole = [folder for folder in folders if (folder / "initdb").exists()]
    return max(whole, key=lambda folder: int(folder.parent.name), default=None)
