"""PgBouncer in transaction mode before an embedded PostgreSQL: for the tests of a pooler, and for
those that reach the database through one (tests/postgres.py).

Its clients are the roles of PostgreSQL, without passwords; each has few connections, so that two
transactions of a client rarely meet the same one by chance.
"""

import getpass
import os
import re
import shutil
import socket
import subprocess
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

from dev import machine, processes, short_paths
from dev.ports import free_port

POOL = 5
# From here on it follows which client has prepared what.
PREPARES_FROM = (1, 21)
PREPARED_MAX = 200


@cache
def version() -> tuple[int, int]:
    """Of the program that is there; (0, 0) without one."""
    program = machine.pgbouncer()
    if program is None:
        return (0, 0)
    run = subprocess.run([program, "--version"], capture_output=True, text=True, check=False)
    match = re.search(r"PgBouncer (\d+)\.(\d+)", run.stdout)
    return (int(match[1]), int(match[2])) if match else (0, 0)


def prepares() -> bool:
    """True if statements may be prepared through it."""
    return version() >= PREPARES_FROM


class Pooler:
    """A PgBouncer before the server of an address, for each of its databases and `roles`."""

    def __init__(
        self, url: str, roles: Iterable[str] = (), *, pool: int = POOL, first: str = "SELECT 1"
    ) -> None:
        """`first` is what each connection to the server gets before anybody has it."""
        parts = urlsplit(url)
        host = str(parse_qs(parts.query).get("host", [parts.hostname])[0])
        port = parts.port or 5432
        self.user = parts.username or getpass.getuser()
        self.folder = short_paths.make_beside(Path(os.environ["TILLGATE_VAR"]), "pooler")
        self.folder.chmod(0o755)
        self.port = free_port()
        users = self.folder / "users.txt"
        users.write_text("".join(f'"{name}" ""\n' for name in {self.user, *roles}))
        prepared = f"max_prepared_statements = {PREPARED_MAX}\n" if prepares() else ""
        file = self.folder / "pgbouncer.ini"
        file.write_text(
            f"[databases]\n* = host={host} port={port} connect_query='{first}'\n"
            f"[pgbouncer]\nlisten_addr = 127.0.0.1\nlisten_port = {self.port}\n"
            f"unix_socket_dir =\nauth_type = trust\nauth_file = {users}\n"
            f"stats_users = {', '.join(sorted({self.user, *roles}))}\n"
            f"pool_mode = transaction\ndefault_pool_size = {pool}\nmax_client_conn = 500\n"
            f"client_login_timeout = 10\nserver_login_retry = 1\n{prepared}"
        )
        self.log = self.folder / "log"
        # It refuses to be root; the server's own user may open the server's socket.
        owner = ["-u", (Path(host) / f".s.PGSQL.{port}").owner()] if os.geteuid() == 0 else []
        with self.log.open("w") as log:
            self.process = subprocess.Popen(
                [str(machine.pgbouncer()), *owner, str(file)], stdout=log, stderr=log
            )
        processes.wait_until(self._is_listening, self.process, "PgBouncer", self.log)

    def url(self, database: str, role: str = "") -> str:
        user = role or self.user
        return f"postgresql://{user}@127.0.0.1:{self.port}/{database}?sslmode=disable"

    def environment(self, database: str) -> dict[str, str]:
        """Environment of a process that connects through the pooler."""
        return {
            "DATABASE_URL": self.url(database),
            "DATABASE_POOLER": "true",
            "DATABASE_POOLER_CONSOLE": "true",
            "DATABASE_PREPARED_STATEMENTS": str(prepares()).lower(),
        }

    def _is_listening(self) -> bool:
        with socket.socket() as client:
            return client.connect_ex(("127.0.0.1", self.port)) == 0

    def stop(self) -> None:
        # From 1.23 on it would wait for its clients when asked to end; it has nothing to lose.
        self.process.kill()
        self.process.wait(20)
        shutil.rmtree(self.folder, ignore_errors=True)
