"""pg_dump and pg_restore: which programs they are, and how they reach the database that Django is
connected to."""

import os
import re
import shutil
import subprocess
from pathlib import Path

from django.conf import settings
from django.db import connection

from apps.console.backups.failure import BackupError

_VERSION = re.compile(r"\(PostgreSQL\) ([0-9]+)")


def program(name: str) -> str:
    """The path of a program of PostgreSQL that is at least as new as the server. Raises
    BackupError."""
    executable = shutil.which(name, path=settings.POSTGRES_CLIENT_BIN or None)
    if executable is None:
        where = settings.POSTGRES_CLIENT_BIN or "on PATH"
        raise BackupError(
            f"There is no {name} {where}: install PostgreSQL's client programs, or name their"
            " folder in POSTGRES_CLIENT_BIN"
        )
    output = subprocess.run(
        [executable, "--version"], capture_output=True, text=True, check=False
    ).stdout
    version = _VERSION.search(output)
    if version is None or int(version[1]) < server_version():
        raise BackupError(
            f"{executable} is of PostgreSQL {version[1] if version else '?'}, and the server is of"
            f" {server_version()}: name the folder of programs that are as new as the server in"
            " POSTGRES_CLIENT_BIN"
        )
    return executable


def server_version() -> int:
    """The major version."""
    connection.ensure_connection()
    return int(connection.connection.info.server_version) // 10000


def address() -> tuple[str, dict[str, str]]:
    """A connection string without the password, and an environment that holds it."""
    connection.ensure_connection()
    info = connection.connection.info
    password = {"PGPASSWORD": info.password} if info.password else {}
    return str(info.dsn), {**os.environ, **password}


def run(arguments: list[str], environment: dict[str, str], source: Path | None = None) -> None:
    """Run a program to its end, with a file as its input. Raises BackupError with what it said."""
    with source.open("rb") if source else open(os.devnull, "rb") as stdin:
        done = subprocess.run(
            arguments, env=environment, stdin=stdin, capture_output=True, text=True, check=False
        )
    if done.returncode:
        raise BackupError(f"{Path(arguments[0]).name} failed: {done.stderr.strip()[-2000:]}")
