"""The image of the Dockerfile as a folder, and the processes in it: without the workshop, on files
that nobody can change but where something is mounted, and without capabilities.

Each process gets a container's own host name and its own `var`; here they share a machine.
"""

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Mapping
from functools import cache
from pathlib import Path

from dev import pooler
from dev.ports import free_port
from tests.night.machine import POSTGRES_PROGRAMS, ROOT, Machine, Program, Variables

PLACE = "/srv/tillgate"
_WEB = "8000"
_PROGRAM = """#!/bin/sh
exec {python} {script} "$@"
"""
# celery names a worker by the host that it runs on.
_CELERY = """import os, socket, sys
socket.gethostname = lambda: os.environ["HOSTNAME"]
from celery.__main__ import main
sys.argv[0] = "celery"
sys.exit(main())
"""


class Image:
    """Files of the last stage of the Dockerfile, below a folder in place of `/`."""

    def __init__(self, root: Path, port: int) -> None:
        self.root = root
        self.work = root / PLACE[1:]
        self.programs = root / "opt/venv/bin"
        stage = (ROOT / "Dockerfile").read_text().rpartition("\nFROM ")[2].replace("\\\n", " ")
        self.environment = {
            name: value
            for line in re.findall(r"^ENV (.+)$", stage, re.MULTILINE)
            for name, _, value in (pair.partition("=") for pair in line.split())
        }
        (command,) = re.findall(r"^CMD (.+)$", stage, re.MULTILINE)
        self.command: list[str] = json.loads(command)
        self.work.mkdir(parents=True)
        for line in re.findall(r"^COPY (?!--from)(.+)$", stage, re.MULTILINE):
            *sources, target = line.split()
            for source in sources:
                self._copy(ROOT / source, self.work / target)
        health = self.work / "config/healthcheck.py"
        health.write_text(health.read_text().replace(f":{_WEB}/", f":{port}/"))
        (root / "home/tillgate").mkdir(parents=True)
        self._make_programs()

    @staticmethod
    def _copy(source: Path, target: Path) -> None:
        if source.is_dir():
            shutil.copytree(source, target)
        else:
            shutil.copy(source, target)

    def _make_programs(self) -> None:
        self.programs.mkdir(parents=True)
        python = shlex.quote(sys.executable)
        for name, text in (("python", ""), ("celery", _CELERY)):
            script = self.programs / f"run_{name}.py"
            script.write_text(text)
            run = shlex.quote(str(script)) if text else ""
            (self.programs / name).write_text(_PROGRAM.format(python=python, script=run))
            (self.programs / name).chmod(0o755)

    def close(self) -> None:
        """Nobody writes to it from now on."""
        for folder, _, _ in os.walk(self.root):
            Path(folder).chmod(0o555)

    def open(self) -> None:
        """Before it is removed."""
        for folder, _, _ in os.walk(self.root):
            Path(folder).chmod(0o755)


@cache
def locked_down() -> tuple[str, ...]:
    """Capabilities taken from a process that containers of ours don't have. A user's processes have
    none anyway; root's reach the socket of the tests' PostgreSQL by the one that is left."""
    program = shutil.which("setpriv")
    if program is None:
        return ()
    words = [program, "--no-new-privs"]
    if os.geteuid() == 0:
        words += ["--inh-caps=-all", "--bounding-set=-all,+dac_read_search"]
    done = subprocess.run([*words, "true"], capture_output=True, check=False)
    return () if done.returncode else tuple(words)


class Containers(Machine):
    """Processes of one image, each with a host name and a `var` of its own."""

    image: Image
    # Names of the network, and what is mounted in places of all containers.
    network: Variables

    def make_image(self) -> None:
        self.image = Image(self.folder / "image", self.port)
        for name in ("volumes", "containers", "secrets"):
            (self.folder / name).mkdir()
        for name in ("backups", "keys"):
            volume = self.folder / "volumes" / name
            volume.mkdir()
            (self.image.work / name).symlink_to(volume)
        self.image.close()

    def container(
        self,
        name: str,
        command: list[str] | None,
        variables: Mapping[str, str],
        mounts: Mapping[str, str],
    ) -> Program:
        """`mounts` are the places below `var` that it may write to, each with the name of what it
        shares with others, or with nothing."""
        place = self.folder / "containers" / name
        if not place.exists():
            self._mount(place, mounts)
        environment = {
            **self.image.environment,
            "HOME": "/home/tillgate",
            "HOSTNAME": name,
            **variables,
            "TILLGATE_VAR": f"{PLACE}/var",
        }
        for variable, value in (("METRICS_PORT", str(free_port())), ("METRICS_ADDRESS", "")):
            if variable in environment:
                environment[variable] = value or "127.0.0.1"
        if not pooler.prepares():
            environment.pop("DATABASE_PREPARED_STATEMENTS", None)
        words = [self.here(name, word) for word in command or self.image.command]
        if "config.web" in words:
            words[words.index("--port") + 1] = str(self.port)
            words[words.index("--host") + 1] = "127.0.0.1"
        return Program(
            [*locked_down(), *words],
            {variable: self.here(name, value) for variable, value in environment.items()},
            self.image.work,
        )

    def probe(self, program: Program, command: list[str]) -> Program:
        """A probe of a process from inside its container."""
        name = program.environment["HOSTNAME"]
        words = [self.here(name, word) for word in command]
        return Program([*locked_down(), *words], program.environment, program.folder)

    def manage(self, command: str) -> str:
        """`docker compose exec worker` or `kubectl exec deploy/…-worker`."""
        words = ["python", "manage.py", *shlex.split(command)]
        return self.probe(self.running["worker"], words).run()

    def _mount(self, place: Path, mounts: Mapping[str, str]) -> None:
        (place / "var").mkdir(parents=True)
        for path, shared in mounts.items():
            if shared:
                volume = self.folder / "volumes" / shared
                volume.mkdir(exist_ok=True)
                (place / "var" / path).symlink_to(volume)
            else:
                (place / "var" / path).mkdir()
        (place / "var").chmod(0o555)

    def here(self, name: str, text: str) -> str:
        """The command with the places of this machine."""
        places = {
            f"{PLACE}/var": str(self.folder / "containers" / name / "var"),
            PLACE: str(self.image.work),
            "/opt/venv/bin": str(self.image.programs),
            "/usr/lib/postgresql/18/bin": str(POSTGRES_PROGRAMS),
            "/run/secrets": str(self.folder / "secrets"),
            "/home/tillgate": str(self.image.root / "home/tillgate"),
            "$PATH": "/usr/local/bin:/usr/bin:/bin",
            **self.network,
        }
        for place, path in places.items():
            text = text.replace(place, path)
        return text
