"""The whole service as processes of its own on embedded services: what a customer, an integrator
and a SIGKILL meet."""

import contextlib
import json
import os
import select
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeVar

import requests

from apps.core import local_chain
from dev import embedded, scratch
from dev.ports import free_port

ROOT = Path(__file__).resolve().parent.parent
START_SECONDS = 120.0
WAIT_SECONDS = 60.0
END_SECONDS = 5.0
# What the processes of a test must not inherit: the services and settings of the tests themselves.
OWN = (
    *embedded.SERVICES,
    "DATABASE_DIRECT_URL",
    "DATABASE_POOLER",
    "DATABASE_PREPARED_STATEMENTS",
    embedded.WITHOUT,
    local_chain.NAMES_VARIABLE,
    "TILLGATE_ENV",
    "TILLGATE_VAR",
    "DJANGO_SETTINGS_MODULE",
)
T = TypeVar("T")


def wait_for(read: Callable[[], T], until: Callable[[T], bool], seconds: float = WAIT_SECONDS) -> T:
    """Read again and again until it holds; fails with the last value."""
    deadline = time.monotonic() + seconds
    while True:
        value = read()
        if until(value):
            return value
        if time.monotonic() > deadline:
            raise AssertionError(f"still not so after {seconds:.0f} s: {value!r}")
        time.sleep(0.2)


def mine(url: str, blocks: int) -> None:
    local_chain.call(url, "anvil_mine", hex(blocks))


def processes_of(folder: Path) -> dict[int, str]:
    """Every process that works in the folder: process id -> command line."""
    found = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit() and int(entry.name) != os.getpid():
            with contextlib.suppress(OSError):
                command = (
                    (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
                )
                if (
                    f"TILLGATE_VAR={folder}".encode()
                    in (entry / "environ").read_bytes().split(b"\0")
                    or str(folder) in command
                ):
                    found[int(entry.name)] = command
    return found


def end_processes_of(folder: Path) -> None:
    """Processes that a killed demo leaves running are asked to stop, and killed when they don't."""
    for number in (signal.SIGTERM, signal.SIGKILL):
        for process_id in processes_of(folder):
            with contextlib.suppress(ProcessLookupError):
                os.kill(process_id, number)
        with contextlib.suppress(AssertionError):
            wait_for(lambda: processes_of(folder), lambda running: not running, END_SECONDS)


class Demo:
    """`manage.py demo` in a folder of its own; `services` of the test's own are in its
    environment."""

    def __init__(self, services: Mapping[str, str] | None = None) -> None:
        self.moved = time.monotonic()
        self.told = 0
        self.folder = tempfile.TemporaryDirectory(prefix="tg", dir=scratch.place())
        self.port = free_port()
        inherited = {name: value for name, value in os.environ.items() if name not in OWN}
        own = {"TILLGATE_VAR": self.folder.name}
        self.environ = {**inherited, **own, **(services or {})}
        self.log = (Path(self.folder.name) / "demo.log").open("w")
        self.process = subprocess.Popen(
            [sys.executable, "manage.py", "demo", "--json", "--port", str(self.port)],
            cwd=ROOT,
            env=self.environ,
            stdout=subprocess.PIPE,
            stderr=self.log,
            text=True,
        )
        line = self._first_line()
        if not line:
            told = Path(self.log.name).read_text()[-4000:]
            self._clear()
            raise AssertionError(f"the demo didn't start:\n{told}")
        self.info: dict[str, Any] = json.loads(line)

    @property
    def is_running(self) -> bool:
        return self.process.poll() is None

    def is_late(self) -> bool:
        """Tell whether it has printed nothing for so long."""
        told = Path(self.log.name).stat().st_size
        if told != self.told:
            self.told = told
            self.moved = time.monotonic()
        return time.monotonic() - self.moved > START_SECONDS

    def _first_line(self) -> str:
        """The line that it prints once it runs; nothing when it ended before, or is late."""
        assert self.process.stdout is not None
        while not select.select([self.process.stdout], [], [], 0.2)[0]:
            if self.is_late():
                return ""
        return self.process.stdout.readline()

    def _clear(self) -> None:
        """Leave no process and no file behind, however it ended."""
        self.process.kill()
        self.process.wait()
        end_processes_of(Path(self.folder.name))
        self.log.close()
        self.folder.cleanup()

    def manage(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        """An operator command against the running demo."""
        return subprocess.run(
            [sys.executable, "manage.py", *arguments],
            cwd=ROOT,
            env=self.environ,
            capture_output=True,
            text=True,
            check=False,
        )

    def stop(self) -> float:
        """Ctrl-C; how many seconds it took."""
        began = time.monotonic()
        self.process.send_signal(signal.SIGINT)
        try:
            self.process.wait(30)
            return time.monotonic() - began
        finally:
            self._clear()


class Remote:
    """The API of a running server with one key."""

    def __init__(self, base_url: str, key: str) -> None:
        self.base_url = base_url
        self.session = requests.Session()
        self.session.trust_env = False
        self.session.headers["Authorization"] = f"Bearer {key}"

    def __call__(self, method: str, path: str, body: Any = None, *, key: str = "") -> Any:
        headers = {"Idempotency-Key": key} if key else {}
        answer = self.session.request(
            method, f"{self.base_url}/api/v2{path}", json=body, headers=headers, timeout=30
        )
        assert answer.status_code < 400, answer.text
        return answer.json() if answer.content else None

    def payment(self, **fields: Any) -> dict[str, Any]:
        made: dict[str, Any] = self(
            "POST",
            "/payments",
            {"payment_intent": {"amount": "10.00", "currency": "EUR", **fields}},
        )
        return made

    def detail(self, payment_id: str) -> dict[str, Any]:
        found: dict[str, Any] = self("GET", f"/payments/{payment_id}")
        return found

    def until(self, payment_id: str, status: str, seconds: float = WAIT_SECONDS) -> dict[str, Any]:
        return wait_for(
            lambda: self.detail(payment_id), lambda found: found["status"] == status, seconds
        )
