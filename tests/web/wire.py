"""Bytes that a socket sends to the server and gets from it."""

import http.client
import json
import os
import signal
import socket
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.stack import wait_for

# The server counts five and a half.
RESPAWN_SECONDS = 6.5
LOCALHOST = b"Host: localhost"


@dataclass(frozen=True)
class Answer:
    status: int
    headers: dict[str, str]
    content: bytes
    seconds: float

    def json(self) -> Any:
        return json.loads(self.content)


class Request:
    """A request that is sent piece by piece, on a connection of its own."""

    def __init__(self, port: int, raw: bytes, address: str) -> None:
        self.began = time.monotonic()
        self.socket = socket.create_connection(("127.0.0.1", port), 40, (address, 0))
        self.socket.sendall(raw)

    def send(self, raw: bytes) -> None:
        self.socket.sendall(raw)

    def answer(self) -> Answer:
        with self.socket:
            heard = http.client.HTTPResponse(self.socket)
            heard.begin()
            content = heard.read()
            headers = {name.lower(): value for name, value in heard.getheaders()}
            return Answer(heard.status, headers, content, time.monotonic() - self.began)

    def is_closed(self) -> bool:
        """Tell whether the server hung up, without a word."""
        return self.socket.recv(1) == b""


@dataclass(frozen=True)
class Web:
    port: int
    pid: int
    address: str = "127.0.0.1"  # of whoever asks: any of this machine's

    def begin(self, method: str, path: str, *lines: bytes, body: bytes = b"") -> Request:
        """Head lines as they are, and as much of the body as is given."""
        hosts = () if any(line.lower().startswith(b"host:") for line in lines) else (LOCALHOST,)
        head = [f"{method} {path} HTTP/1.1".encode(), *hosts, *lines]
        return Request(self.port, b"\r\n".join([*head, b"", b""]) + body, self.address)

    def ask(self, method: str, path: str, *lines: bytes, body: bytes | None = None) -> Answer:
        told = (
            ()
            if body is None
            else (f"Content-Length: {len(body)}".encode(), b"Content-Type: application/json")
        )
        return self.begin(method, path, *lines, *told, body=body or b"").answer()

    def lose_a_worker(self) -> int:
        """Kill one. Of several that end shortly after each other the server says that they crash
        in a loop, and ends."""
        wait_for(lambda: self._youngest_seconds(), lambda age: age > RESPAWN_SECONDS, 30)
        lost = min(self.workers())
        os.kill(lost, signal.SIGKILL)
        return lost

    def _youngest_seconds(self) -> float:
        """How long ago the last of the workers began."""
        up = float(Path("/proc/uptime").read_text().split()[0])
        begun = [
            int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[19])
            for pid in self.workers()
        ]
        return up - max(begun) / os.sysconf("SC_CLK_TCK")

    def workers(self) -> set[int]:
        """The processes that answer."""
        found = set()
        for entry in Path("/proc").iterdir():
            try:
                fields = (entry / "stat").read_text().rpartition(")")[2].split()
            except OSError:
                continue
            if entry.name.isdigit() and fields[0] != "Z" and int(fields[1]) == self.pid:
                found.add(int(entry.name))
        return found


def bearer(secret: str) -> bytes:
    return f"Authorization: Bearer {secret}".encode()
