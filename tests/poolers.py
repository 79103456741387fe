"""The poolers of the deployments on a port of their own, before the server of the tests: compose's,
which a script starts, and the chart's, which has its file from a ConfigMap."""

import getpass
import os
import shutil
import socket
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Self
from urllib.parse import urlsplit

from dev import machine, pooler, short_paths
from dev.ports import free_port

_PREPARED = "max_prepared_statements = 200\n"
SCRIPT = Path(__file__).resolve().parent.parent / "config/pooler/start.sh"


class PoolerProcess:
    """PgBouncer as a deployment starts it. It refuses to be root; the user of the server's socket
    may open that."""

    process: "subprocess.Popen[bytes]"

    def __init__(self, server: Path) -> None:
        self.port = free_port()
        self.folder = short_paths.make_beside(Path(os.environ["TILLGATE_VAR"]), "pooler")
        self.user = server.owner() if os.geteuid() == 0 else getpass.getuser()
        self.path = f"{Path(str(machine.pgbouncer())).parent}:{os.environ['PATH']}"
        shutil.chown(self.folder, self.user)

    @staticmethod
    def readable(settings: str) -> str:
        """The settings that the machine's own release knows."""
        return settings if pooler.prepares() else settings.replace(_PREPARED, "")

    def is_listening(self) -> bool:
        assert self.process.poll() is None
        with socket.socket() as client:
            return client.connect_ex(("127.0.0.1", self.port)) == 0

    def stop(self) -> None:
        # It has nothing to lose; asked to end, it would wait for its clients.
        self.process.kill()
        self.process.wait(20)
        shutil.rmtree(self.folder, ignore_errors=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.stop()


class ComposePooler(PoolerProcess):
    """The script of compose.yaml with the variables of its container; POOLER_SERVER_HOST is the
    folder of the server's socket."""

    def __init__(self, variables: Mapping[str, str]) -> None:
        super().__init__(Path(variables["POOLER_SERVER_HOST"]))
        self.process = subprocess.Popen(
            ["sh", "-s"],
            user=self.user,
            cwd="/",
            stdin=subprocess.PIPE,
            env={
                **variables,
                "PATH": self.path,
                "POOLER_FOLDER": str(self.folder),
                "POOLER_ADDRESS": "127.0.0.1",
                "POOLER_PORT": str(self.port),
            },
        )
        assert self.process.stdin
        self.process.stdin.write(self.readable(SCRIPT.read_text()).encode())
        self.process.stdin.close()


class ChartPooler(PoolerProcess):
    """The chart's command with its file, and a Secret that has the passwords in these addresses."""

    def __init__(self, settings: str, command: list[str], urls: list[str], server: str) -> None:
        super().__init__(Path(server))
        users = self.folder / "userlist.txt"
        users.write_text(
            "".join(f'"{url.username}" "{url.password}"\n' for url in map(urlsplit, urls))
        )
        here = {
            "host=db.example.com": f"host={server}",
            "listen_addr = 0.0.0.0": "listen_addr = 127.0.0.1",
            "listen_port = 5432": f"listen_port = {self.port}",
            "/etc/pgbouncer/users/userlist.txt": str(users),
        }
        for place, mine in here.items():
            assert place in settings, place
            settings = settings.replace(place, mine)
        file = self.folder / "pgbouncer.ini"
        file.write_text(self.readable(settings))
        for path in (users, file):
            shutil.chown(path, self.user)
        words = [word.replace("/etc/pgbouncer/pgbouncer.ini", str(file)) for word in command]
        self.process = subprocess.Popen(words, user=self.user, cwd="/", env={"PATH": self.path})
