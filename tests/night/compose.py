"""The services of compose.yaml: each with its command, its files of variables, what it may write
to, and its health check. PostgreSQL is the tests', and no proxy is here."""

import re
import secrets
import shlex
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import yaml

from dev import machine, redis_program
from tests.night.containers import PLACE, Containers
from tests.night.machine import (
    ROOT,
    Program,
    Variables,
    read_variables,
    write_env_files,
    write_variables,
)
from tests.poolers import ComposePooler
from tests.stack import wait_for
from tests.whole import usually

OUTSIDE = {"postgres", "proxy"}
SERVERS = {"redis", "pooler"}
JOBS = {"migrate", "backup", "audit"}
_SUBSTITUTED = re.compile(r"\$\$|\$\{(\w+)(?::([-?])([^}]*))?\}")


def services() -> dict[str, dict[str, Any]]:
    return dict(yaml.safe_load((ROOT / "compose.yaml").read_text())["services"])


class Compose(Containers):
    """The project's folder has `.env` and the files of new_env.sh."""

    def _begin(self, closing: ExitStack) -> None:
        self.project = self.folder / "project"
        self.project.mkdir()
        direct = f"@/{self.database}?host={self.grounds.socket}"
        self.network = {"@postgres:5432/tillgate": direct}
        self.grounds.set_superuser(True)  # as the user that PostgreSQL's image makes
        closing.callback(self.grounds.set_superuser, False)
        write_env_files(self.project)
        self.common: Variables = {}
        text = self.grounds.settings(CHAIN_ETHEREUM_URL=self.chain)
        self.common = {name: self.substituted(value, text) for name, value in text.items()}
        write_variables(self.project / ".env", self.common)
        self.make_image()
        closing.callback(self.image.open)
        self._keep_secrets()
        redis = self.words("redis")
        port = closing.enter_context(self._redis(*redis[1:]))
        self.network["@redis:6379"] = f"@127.0.0.1:{port}"
        self.ports = {"redis": str(port)}
        self._begin_pooler(closing)

    def _keep_secrets(self) -> None:
        (self.folder / "secrets/backup_passphrase").write_text(secrets.token_hex(16))
        # What create_wallet has made, as the guide says before the first start.
        (self.folder / "volumes/keys/signer.key").write_bytes(self.grounds.key)
        signer = read_variables(self.project / "signer.env")
        write_variables(
            self.project / "signer.env",
            {**signer, "SIGNER_PASSPHRASE": self.grounds.passphrase},
        )

    def _begin_pooler(self, closing: ExitStack) -> None:
        """Where the machine has no PgBouncer, those who would come through it come directly."""
        place = "@pooler:5432/tillgate"
        if machine.pgbouncer() is None:
            self.network[place] = self.network["@postgres:5432/tillgate"]
            return
        variables = {**self.variables("pooler"), "POOLER_SERVER_HOST": self.grounds.socket}
        pooler = closing.enter_context(ComposePooler(variables))
        self.ports["pooler"] = str(pooler.port)
        self.network[place] = f"@127.0.0.1:{pooler.port}/{self.database}"
        wait_for(pooler.is_listening, bool, 20)

    # --- what compose.yaml says

    def substituted(self, text: str, values: Variables) -> str:
        def value(match: "re.Match[str]") -> str:
            if match[0] == "$$":
                return "$"
            found = values.get(match[1], "")
            assert found or match[2] == "-", f"{match[1]} is missing in .env"
            return found or match[3]

        return _SUBSTITUTED.sub(value, text)

    def words(self, name: str) -> list[str]:
        return [self.substituted(str(word), self.common) for word in services()[name]["command"]]

    def variables(self, name: str) -> Variables:
        """Those of its files, and its own."""
        service = services()[name]
        found: Variables = {}
        for file in service.get("env_file", ()):
            found |= read_variables(self.project / file)
        own = service.get("environment", {})
        found |= {key: self.substituted(str(value), self.common) for key, value in own.items()}
        return {
            key: value.replace("//tillgate:", f"//{self.grounds.owner}:")
            for key, value in found.items()
        }

    def programs(self, name: str, command: str = "") -> list[Program]:
        """`command` is what `docker compose run` has in place of the service's own."""
        service = services()[name]
        words = shlex.split(command) or (self.words(name) if "command" in service else None)
        return [self.container(name, words, self.variables(name), self._mounts(service))]

    @staticmethod
    def _mounts(service: dict[str, Any]) -> Variables:
        """Folders below `var` that it may write to: volumes, which it shares, and those in
        memory."""
        own = dict.fromkeys(service["tmpfs"], "")
        shared = dict(reversed(volume.split(":")[:2]) for volume in service["volumes"])
        below = f"{PLACE}/var/"
        return {
            path.removeprefix(below): name
            for path, name in {**shared, **own}.items()
            if path.startswith(below)
        }

    def checked(self) -> list[str]:
        """The services here that have a health check; usually one of those that have the same one
        and the same files of variables."""
        here = {*self.running, *self.ports}
        every = [
            name
            for name, service in services().items()
            if "healthcheck" in service and name in here
        ]
        kinds = {
            str((services()[name]["healthcheck"]["test"], services()[name].get("env_file"))): name
            for name in every
        }
        return usually(short=list(kinds.values()), whole=every)

    def health(self, name: str) -> Program:
        """Its health check, as Docker runs it."""
        kind, *words = services()[name]["healthcheck"]["test"]
        words = [self.substituted(word, self.common) for word in words]
        if kind == "CMD-SHELL":
            words = ["sh", "-c", *words]
        if name in SERVERS:
            return self._health_of_server(name, words)
        return self.probe(self.running[name], words)

    def _health_of_server(self, name: str, words: list[str]) -> Program:
        """With the port that it has here, and redis-cli beside the server."""
        port = self.ports[name]
        told = [
            word.replace("redis-cli", f"redis-cli -p {port}").replace("/5432", f"/{port}")
            for word in words
        ]
        cli = Path(redis_program.redis_server()).parent
        environment = {"PATH": f"{cli}:/usr/local/bin:/usr/bin:/bin", **self.variables(name)}
        return Program(told, environment, self.folder)
