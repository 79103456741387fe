"""An installation of one machine: what deploy/systemd says, with the roles, files and environment
that it says. `/` is the machine's folder."""

import json
import re
import secrets
import shlex
import subprocess
import sys
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path

from dev.ports import free_port
from tests.night.machine import (
    JOB_SECONDS,
    POSTGRES_PROGRAMS,
    ROOT,
    Machine,
    Program,
    Variables,
    read_variables,
    write_env_files,
    write_variables,
)

UNITS = ROOT / "deploy/systemd"
PROGRAMS = Path(sys.executable).parent
NODE = "night"
JOBS = ("migrate", "audit", "backup")


class Systemd(Machine):
    """The units, and tillgate-manage beside them."""

    @property
    def etc(self) -> Path:
        return self.folder / "etc"

    def _begin(self, closing: ExitStack) -> None:
        for part in ("etc", "run", "lib", "backups", "credentials"):
            (self.folder / part).mkdir()
        password = self.grounds.secrets["REDIS_PASSWORD"]
        port = closing.enter_context(self._redis("--requirepass", password, "--save", ""))
        write_env_files(self.etc, "--without-pooler")
        for path in self.etc.glob("*.env"):
            place = f"@/{self.database}?host={self.grounds.socket}"
            text = path.read_text().replace("//tillgate:", f"//{self.grounds.owner}:")
            path.write_text(text.replace("@postgres:5432/tillgate", place))
        (self.etc / "backup.passphrase").write_text(secrets.token_hex(16))
        self._write_common(f"redis://:{password}@127.0.0.1:{port}/0")
        told = json.loads(self.told("create_wallet --json", "tillgate", "signer"))
        self.grounds.wallet = {
            f"DEPOSIT_XPUB_{mode.upper()}": xpub for mode, xpub in told["deposit_xpubs"].items()
        }
        self.grounds.key = (self.etc / "signer.key").read_bytes()
        self.grounds.passphrase = self.variables("signer")["SIGNER_PASSPHRASE"]
        self._write_common(f"redis://:{password}@127.0.0.1:{port}/0")

    def _write_common(self, redis_url: str) -> None:
        common = self.grounds.settings(
            REDIS_URL=redis_url,
            CHAIN_ETHEREUM_URL=self.chain,
            POSTGRES_CLIENT_BIN=str(POSTGRES_PROGRAMS),
        )
        write_variables(self.etc / "tillgate.env", common)

    def variables(self, name: str) -> Variables:
        return read_variables(self.etc / f"{name}.env")

    # --- tillgate-manage, and the same for other roles

    def manage(self, command: str) -> str:
        return self.told(command, "tillgate", "worker", "approvals")

    def told(self, command: str, *files: str) -> str:
        """Output of a command of manage.py with the variables of these files."""
        done = self._ran(command, files)
        assert done.returncode == 0, f"{command}: {done.stdout[-2000:]}{done.stderr[-4000:]}"
        return done.stdout

    def refused(self, command: str, *files: str) -> str:
        """Output of a command that refuses."""
        done = self._ran(command, files)
        assert done.returncode == 1, done.stdout + done.stderr
        return done.stderr

    def _ran(self, command: str, files: Sequence[str]) -> "subprocess.CompletedProcess[str]":
        environment = {
            "PATH": f"{PROGRAMS}:/usr/local/bin:/usr/bin:/bin",
            "LANG": "C.UTF-8",
            "TILLGATE_VAR": str(self.folder / "lib"),
            "DJANGO_SETTINGS_MODULE": "config.settings",
        }
        for file in files:
            environment |= self.variables(file)
        if "signer" in files:
            environment["SIGNER_KEY_FILE"] = str(self.etc / "signer.key")
        return subprocess.run(
            [sys.executable, "manage.py", *shlex.split(command)],
            cwd=ROOT,
            env=environment,
            capture_output=True,
            text=True,
            timeout=JOB_SECONDS,
            check=False,
        )

    # --- units

    def programs(self, name: str, command: str = "") -> list[Program]:
        assert not command, "nobody runs another command as a unit"
        environment = self._environment(name)
        return [
            Program(self._command(name, line), environment)
            for line in self._lines(name, "ExecStart")
        ]

    def _environment(self, unit: str) -> Variables:
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
        if "config.web" in words:
            words[words.index("--port") + 1] = str(self.port)
        if "collectstatic" in words:
            # Compressing the files of pages takes half a minute, and no page is asked for here.
            words.append("--dry-run")
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
            "%H": NODE,
        }
        for place, path in places.items():
            line = line.replace(place, path)
        return line
