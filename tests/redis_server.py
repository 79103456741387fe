"""A Redis that a test may kill and start anew."""

import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import redis

from dev.redis_program import redis_server
from tests.stack import wait_for


class OwnRedis:
    def __init__(self, folder: Path) -> None:
        self.socket = folder / "redis"
        self.client = redis.Redis(unix_socket_path=str(self.socket))
        self.start()

    def start(self) -> None:
        options = ("--port", "0", "--unixsocket", str(self.socket), "--save", "")
        self.process = subprocess.Popen(
            [redis_server(), *options],
            cwd=self.socket.parent,
            stdout=subprocess.DEVNULL,
        )
        wait_for(self._answers, bool)

    def _answers(self) -> bool:
        try:
            return bool(self.client.ping())
        except redis.ConnectionError:
            return False

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()


@contextmanager
def own_redis() -> Iterator[OwnRedis]:
    with tempfile.TemporaryDirectory(prefix="tg", dir="/tmp") as folder:
        running = OwnRedis(Path(folder))
        try:
            yield running
        finally:
            running.kill()
