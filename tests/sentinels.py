"""A Redis with a replica and three sentinels, as processes of their own that can be killed."""

import subprocess
import tempfile
from pathlib import Path

import redis

from dev.ports import free_port
from dev.redis_program import redis_server
from tests.stack import wait_for

PASSWORD = "an-Otter-swims"
SENTINEL_PASSWORD = "an-Otter-watches"
NAME = "main"
DOWN_AFTER_MS = 1000
START_SECONDS = 30.0


class Sentinels:
    """Started at once, and ready when every sentinel knows the replica and the other sentinels."""

    def __init__(self) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="tg", dir="/tmp")
        self._log = (Path(self._folder.name) / "log").open("w")
        self._running = list[subprocess.Popen[bytes]]()
        try:
            self.master_port = free_port()
            self.master = self._server(self.master_port)
            self._server(free_port(), "--replicaof", "127.0.0.1", str(self.master_port))
            self.ports = [self._sentinel() for _ in range(3)]
            wait_for(self._known_to_all, lambda known: known == {(1, 2)})
        except BaseException:
            self.close()
            raise

    @property
    def url(self) -> str:
        hosts = ",".join(f"127.0.0.1:{port}" for port in self.ports)
        return f"sentinel://:{PASSWORD}@{hosts}/{NAME}?sentinel_password={SENTINEL_PASSWORD}"

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
        self._log.close()
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
            [redis_server(), *arguments],
            cwd=self._folder.name,
            stdout=self._log,
        )
        self._running.append(process)
        return process

    def _known_to_all(self) -> set[tuple[int, int] | None]:
        """None of the processes may end before all of them are there: it wouldn't come back."""
        if any(process.poll() is not None for process in self._running):
            said = Path(self._log.name).read_text()[-4000:]
            raise AssertionError(f"a Redis of the sentinels has ended:\n{said}")
        return {self._known(port) for port in self.ports}

    def _known(self, port: int) -> tuple[int, int] | None:
        """How many replicas and other sentinels this one has met."""
        client = redis.Redis(port=port, password=SENTINEL_PASSWORD, socket_timeout=1)
        try:
            state: dict[str, int] = client.sentinel_masters()[NAME]  # type: ignore[call-overload]  # by name
        except redis.RedisError:
            return None
        return int(state["num-slaves"]), int(state["num-other-sentinels"])
