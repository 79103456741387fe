"""The service's processes one by one, on services that stay when they are killed, stopped, or
started anew."""

import contextlib
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from dev import scratch
from dev.demo.runner import jobs, of_role
from dev.ports import free_port
from tests.forks import Fork, Forks
from tests.stack import OWN, ROOT, wait_for

KEEPER = """
import json, os, sys
from apps.core import local_chain
from dev import embedded
embedded.ensure(mode=embedded.DEMO)
names = (*embedded.SERVICES, local_chain.NAMES_VARIABLE)
print(json.dumps({name: os.environ.get(name, "") for name in names}), flush=True)
sys.stdin.read()
"""
STARTER = """
import os
from dev import embedded
for name in ("DATABASE_URL", "REDIS_URL"):
    os.environ.pop(name, None)
embedded.ensure(mode=embedded.DEMO)
"""
MANAGE = """
from django.conf import settings
from django.core.management import execute_from_command_line
for name, value in {settings!r}.items():
    setattr(settings, name, value)
execute_from_command_line({arguments!r})
"""
# As the demo runs what it has forked.
PROCESS = """
import os
from dev.demo import runner, warm
os.environ.update(runner.ENVIRONMENT)
warm.take_role()
warm.execute({command!r})
"""
# Settings were read before: web, which approves nothing, forgets the keys of those who do.
WEB = """
import sys
from django.conf import settings
from granian import cli
from dev.demo import warm
settings.APPROVAL_KEYS = []
warm.take_role()
sys.argv = {command!r}
cli.entrypoint()
"""
# What those that are forked find loaded.
LOADED = ("tests.faults.loaded", "config.urls")
LOADED_BY_WEB = ("config.urls", "granian.cli")


class Stack:
    """Web, worker, beat and watcher as processes that can be killed one by one, on services that
    stay, whose database comes migrated. `own` are further variables of the processes; `loaded` are
    modules that those forked find loaded."""

    def __init__(
        self, own: Mapping[str, str] | None = None, loaded: Sequence[str] = LOADED
    ) -> None:
        self._modules = loaded
        self.folder = tempfile.TemporaryDirectory(prefix="tg", dir=scratch.place())
        base = {name: value for name, value in os.environ.items() if name not in OWN}
        self.port = free_port()
        self.base_url = f"http://localhost:{self.port}"
        self.environ = {
            **base,
            "TILLGATE_VAR": self.folder.name,
            "TILLGATE_ENV": "demo",
            "PUBLIC_URL": self.base_url,
            "PYTHONPATH": str(ROOT),
            "WEBHOOK_ALLOW_HOSTS": "127.0.0.1",
            "DJANGO_SETTINGS_MODULE": "config.settings",
            "LOG_LEVEL": "WARNING",
            **(own or {}),
        }
        self.keeper = self._spawn(
            [sys.executable, "-c", KEEPER], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        assert self.keeper.stdout is not None
        self.environ |= {
            name: value
            for name, value in json.loads(self.keeper.stdout.readline()).items()
            if value
        }
        self.log = (Path(self.folder.name) / "log").open("a")
        self._forks: list[tuple[Forks, dict[str, str]]] = []
        # As the owner: the watcher's role may not say what a chain is.
        introduce = "from apps.console import local_chains; local_chains.introduce()"
        self.manage("shell", "--command", introduce)
        self.manage("set_asset", "ETH", "--confirmations", "3")
        self.processes: dict[str, subprocess.Popen[str] | Fork] = {}

    def _spawn(
        self, command: list[str], role: dict[str, str] | None = None, **options: Any
    ) -> "subprocess.Popen[str]":
        return subprocess.Popen(
            command,
            cwd=ROOT,
            env={**self.environ, **(role or {})},
            start_new_session=True,
            **options,
        )

    def manage(self, *arguments: str, **settings: str) -> Any:
        """A command of an operator, in a fork, with `settings` in place of what was read."""
        script = MANAGE.format(arguments=["manage.py", *arguments], settings=settings)
        run = self._loaded().run(script)
        assert run.returncode == 0, run.stdout + run.stderr
        return json.loads(run.stdout) if "--json" in arguments else run.stdout

    def _loaded(self) -> Forks:
        """The loaded process that others are forked from: it has read the settings of this
        environment."""
        if not self._forks or self._forks[-1][1] != self.environ:
            self._forks.append((Forks(self.environ, *self._modules), dict(self.environ)))
        return self._forks[-1][0]

    def commands(self) -> dict[str, list[str]]:
        programs = Path(sys.executable).parent
        return {
            "web": [
                str(programs / "granian"),
                "--interface",
                "asginl",
                "--no-ws",
                "--host",
                "127.0.0.1",
                "--port",
                str(self.port),
                "--log-level",
                "warning",
                "config.asgi:application",
            ],
            **jobs(),
            "watcher": [sys.executable, "manage.py", "watch_chains"],
            "signer": [sys.executable, "manage.py", "signer"],
        }

    def start(self, name: str, called: str = "") -> None:
        """Each process comes in at the database as its role."""
        role = of_role(name, self.environ["DATABASE_URL"])
        command = self.commands()[name]
        log = Path(self.log.name)
        script = (WEB if name == "web" else PROCESS).format(command=command)
        self.processes[called or name] = self._loaded().start(script, log, **role)

    def kill(self, name: str) -> None:
        """SIGKILL to the process and everything it started."""
        os.killpg(self.processes[name].pid, signal.SIGKILL)
        self.processes.pop(name).wait()

    def terminate(self, name: str) -> int:
        """SIGTERM, as at a deployment; how it ended."""
        process = self.processes.pop(name)
        process.terminate()
        return process.wait(30)

    # --- what it stands on ------------------------------------------------------------------------

    def lose_database(self, away_seconds: float = 0.0) -> None:
        """As in a failover: it stops at once, without waiting for anybody, and is away for a
        while."""
        self.kill_database()
        time.sleep(away_seconds)
        self.start_services()

    def kill_database(self) -> None:
        lines = (Path(self.folder.name) / "postgres" / "postmaster.pid").read_text().splitlines()
        os.kill(int(lines[0]), signal.SIGQUIT)

    def lose_redis(self, away_seconds: float = 0.0) -> None:
        """Killed; what it had not saved is forgotten."""
        self.kill_redis()
        time.sleep(away_seconds)
        self.start_services()

    def kill_redis(self) -> None:
        os.kill(self.service("redis"), signal.SIGKILL)

    def service(self, name: str) -> int:
        """The process of an embedded service."""
        return int(json.loads((Path(self.folder.name) / f".{name}.process").read_text())["pid"])

    def start_services(self) -> None:
        """Start what is gone of PostgreSQL and Redis as any command of an operator would."""
        run = self._loaded().run(STARTER)
        assert run.returncode == 0, run.stderr

    def close(self) -> None:
        for name in list(self.processes):
            with contextlib.suppress(ProcessLookupError):  # it ended before
                self.kill(name)
        for forks, _ in self._forks:
            forks.end()
        assert self.keeper.stdin is not None
        self.keeper.stdin.close()
        self.keeper.wait(30)
        # The keeper knows the database that it started itself, not one that was started after it
        # was lost.
        lock = Path(self.folder.name) / "postgres" / "postmaster.pid"
        if lock.exists():
            os.kill(int(lock.read_text().splitlines()[0]), signal.SIGQUIT)
            wait_for(lock.exists, lambda is_there: not is_there)
        self.log.close()
        self.folder.cleanup()
