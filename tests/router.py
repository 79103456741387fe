"""The router of deploy/shards: nginx with the files that operators get, and a table of its own."""

import os
import shutil
import subprocess
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

import requests

from dev import machine
from dev.ports import free_port
from tests.stack import ROOT, wait_for

FILES = ROOT / "deploy" / "shards"
_MAIN = """
daemon off;
{user}
pid {folder}/pid;
error_log {folder}/error.log warn;
worker_processes 1;
events {{ worker_connections 256; }}
http {{
    log_format shards '$upstream_addr|$key_shard|$token_shard$id_shard|$request_method|$uri';
    client_body_temp_path {folder}/body;
    proxy_temp_path {folder}/proxy;
    fastcgi_temp_path {folder}/fastcgi;
    uwsgi_temp_path {folder}/uwsgi;
    scgi_temp_path {folder}/scgi;
    include tillgate/http.conf;
    {upstreams}
    server {{
        listen 127.0.0.1:{port};
        access_log {folder}/access.log shards;
        {server}
    }}
}}
"""


def place_files(folder: Path) -> None:
    """As operators place them, but for where nginx logs."""
    shutil.copytree(FILES, folder / "tillgate")
    proxy = folder / "tillgate" / "proxy.conf"
    proxy.write_text(proxy.read_text().replace("/var/log/nginx", str(folder)))


class Passed(NamedTuple):
    """A request: whom it was passed to, in this order, and the shards that it named."""

    upstreams: list[str]
    key_shard: str
    path_shard: str
    method: str
    path: str

    @property
    def shard(self) -> str:
        """The shard that a request goes to: the path before the key."""
        return self.path_shard.upper() or self.key_shard


class Router:
    """nginx on a port of its own. `servers` maps the name of each to its port, `shards` a shard to
    that name; `server` is the content of the server's block instead of the locations."""

    def __init__(
        self,
        servers: Mapping[str, int],
        shards: Mapping[str, str],
        server: str = "include tillgate/locations.conf;",
        port: int = 0,
    ) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="router-"))
        self.port = port or free_port()
        self.base_url = f"http://localhost:{self.port}"
        place_files(self.folder)
        self.place(shards)
        upstreams = "\n".join(
            f"upstream {name} {{ server 127.0.0.1:{port}; keepalive 8; }}"
            for name, port in servers.items()
        )
        text = _MAIN.format(
            user="user root;" if os.geteuid() == 0 else "",
            folder=self.folder,
            upstreams=upstreams,
            port=self.port,
            server=server,
        )
        (self.folder / "nginx.conf").write_text(text)
        self._command = [str(machine.nginx()), "-p", str(self.folder), "-c"]
        self._command.append(str(self.folder / "nginx.conf"))
        self._errors = (self.folder / "stderr").open("w")
        self.process = subprocess.Popen(self._command, stderr=self._errors)
        wait_for(self._is_listening, bool, 10)

    def _is_listening(self) -> bool:
        assert self.process.poll() is None, (self.folder / "stderr").read_text()
        try:
            requests.get(f"{self.base_url}/nothing", timeout=60)
        except requests.ConnectionError:
            return False
        return True

    def place(self, shards: Mapping[str, str]) -> None:
        """The one file that says where shards are."""
        lines = (f"{shard} {name};\n" for shard, name in shards.items())
        (self.folder / "tillgate" / "shards.map").write_text("".join(lines))

    def logged(self) -> str:
        """All that nginx wrote by the files' own rules."""
        return "".join(file.read_text() for file in self.folder.glob("tillgate*.log"))

    def reload(self) -> None:
        subprocess.run([*self._command, "-s", "reload"], check=True)

    def passed(self) -> list[Passed]:
        """Requests that came so far, but for the first look whether anybody is there."""
        lines = (self.folder / "access.log").read_text().splitlines()
        found = []
        for line in lines:
            upstreams, *rest = line.split("|")
            request = Passed(upstreams.replace(",", " :").split(" : "), *rest)
            if request.path != "/nothing":
                found.append(request)
        return found

    def close(self) -> None:
        self.process.terminate()
        self.process.wait(30)
        self._errors.close()
        shutil.rmtree(self.folder)
