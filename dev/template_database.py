"""A PostgreSQL folder with every migration applied: made once per state of the migrations, copied
for each new set of services.

It lies in var/templates, whatever TILLGATE_VAR says: demos and tests in folders of their own find
it there too.
"""

import fcntl
import hashlib
import os
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Callable
from pathlib import Path
from typing import Any

from dev import processes, running
from dev.progress import ProgressBar

ROOT = Path(__file__).resolve().parent.parent
TEMPLATES = ROOT / "var" / "templates"
DATABASE = "tillgate_template"
KEPT_MAX = 2
STATE = "tillgate.state"
# What decides what a migrated database holds: migrations, what they read and import, and the
# packages whose migrations run too.
SOURCES = (
    "apps/*/migrations/*.py",
    "apps/core/models.py",
    "apps/core/db/first_*.py",
    "apps/audit/grants.*",
    "apps/audit/policies.*",
    "apps/audit/role_settings.py",
    "config/settings.py",
    "requirements/base.txt",
)
# The server's configuration as initdb writes it: each set of services adds lines of its own.
PLAIN = "postgresql.conf.plain"


def state() -> str:
    digest = hashlib.sha256()
    for pattern in SOURCES:
        for path in sorted(ROOT.glob(pattern)):
            digest.update(f"{path.relative_to(ROOT)}\0".encode() + path.read_bytes())
    return digest.hexdigest()[:16]


def is_of_this_state(data: Path) -> bool:
    """True if the folder of a server was copied from what the migrations make now."""
    try:
        return (data / STATE).read_text() == state()
    except OSError:
        return False


def for_tests(data: Path) -> dict[str, Any]:
    """Django's settings of a test database on the server of this folder: the copy, when it has
    one."""
    return {"TEMPLATE": DATABASE, "MIGRATE": False} if is_of_this_state(data) else {}


def copy(data: Path, open_server: Callable[[Path], Any]) -> None:
    """Fill a server's folder that isn't there yet. `open_server` starts one in a folder. Raises
    processes.StartFailed."""
    TEMPLATES.mkdir(parents=True, exist_ok=True)
    with (TEMPLATES / ".lock").open("a+") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        template = TEMPLATES / state()
        if not template.exists():
            _make(template, open_server)
        os.utime(template)
        whole = data.with_suffix(".new")
        for folder in (data, whole):
            shutil.rmtree(folder, ignore_errors=True)
        # cp keeps the owner, which a server started by root needs, and copies nothing where the
        # file system can share.
        subprocess.run(
            ["cp", "-a", "--reflink=auto", str(template / "postgres"), str(whole)], check=True
        )
        whole.rename(data)
        _forget_older()


def _make(template: Path, open_server: Callable[[Path], Any]) -> None:
    folder = template.with_suffix(".new")
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    data = folder / "postgres"
    server = open_server(data)
    try:
        _migrate(server, folder)
    finally:
        server.stop()
    # Written in place: it belongs to the user that the server runs as.
    (data / "postgresql.conf").write_text((data / PLAIN).read_text())
    (data / STATE).write_text(template.name)
    for name in (PLAIN, "log", ".handle_pids.json"):
        (data / name).unlink(missing_ok=True)
    folder.rename(template)


def _migrate(server: Any, folder: Path) -> None:
    import psycopg

    with psycopg.connect(server.get_uri(), autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {DATABASE}")
    services = {
        "DATABASE_URL": server.get_uri(database=DATABASE),
        "REDIS_URL": "redis://",
        "TILLGATE_ENV": "test",
    }
    addresses = {name: None for name in os.environ if name.endswith("_URL")}
    environ = {
        **addresses,
        **services,
        "PYTHONUNBUFFERED": "1",
        "TILLGATE_WITHOUT": "CHAIN_ETHEREUM_URL,CHAIN_SEPOLIA_URL,CHAIN_LITECOIN_URL",
        "TILLGATE_VAR": str(folder),
    }
    command = [sys.executable, str(ROOT / "manage.py"), "migrate", "--skip-checks"]
    title = "applying the migrations, once for all databases that start from them"
    running.say(title)
    with ProgressBar(title) as bar:
        migrations = AppliedMigrations(bar)
        applied = running.run(*command, env=environ, follow=migrations.write)
    if applied.returncode:
        raise processes.StartFailed(f"the migrations could not be applied:\n{applied.stdout}")


class AppliedMigrations:
    """Counts the migrations that Django says it applies, of those that its apps have."""

    def __init__(self, bar: ProgressBar) -> None:
        self._bar = bar
        self._count = 0
        self._total = 0

    def write(self, line: str) -> None:
        """As a stream to which `migrate` tells what it does."""
        if "Apply all migrations:" in line:
            labels = line.partition(":")[2].replace(" ", "").strip().split(",")
            self._total = sum(map(_migrations_of, labels))
        if line.lstrip().startswith("Applying "):
            self._count += 1
            self._bar.at(self._count, max(self._total, self._count + 1))


def _migrations_of(label: str) -> int:
    """Number of an app's migration files, ours or a library's."""
    libraries = Path(sysconfig.get_path("purelib"))
    places = (ROOT / "apps" / label, libraries / "django" / "contrib" / label, libraries / label)
    return sum(1 for place in places for _ in place.glob("migrations/0*.py"))


def _forget_older() -> None:
    templates = sorted(
        (path for path in TEMPLATES.iterdir() if path.is_dir()),
        key=lambda path: path.stat().st_mtime,
    )
    for path in templates[:-KEPT_MAX]:
        shutil.rmtree(path, ignore_errors=True)
