"""The demo's processes under one roof: when one dies all are stopped, and a stop leaves none
behind.

Each runs in a process group of its own and may be started at any time; what has not stopped after
three seconds is killed.
"""

import contextlib
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from types import FrameType
from typing import IO
from urllib.parse import urlsplit

from django.conf import settings

from apps.audit import grants
from dev import processes
from dev.demo.warm import WEB_PROGRAM, Warm

KILL_SECONDS = 3.0
LOOK_SECONDS = 0.1
NAME_WIDTH = 8
WEB_NICE = 5
# In a container the demo may well run as root; it is nobody's production.
ENVIRONMENT = {
    "PYTHONUNBUFFERED": "1",
    "PYTHONWARNINGS": "ignore:You're running the worker with superuser",
}


class Processes:
    """Processes beside the services. One thread starts and watches them; any may ask them to
    stop."""

    def __init__(self) -> None:
        self._running: dict[str, subprocess.Popen[bytes] | Warm] = {}
        self._warm: dict[str, Warm] = {}
        self._readers: list[threading.Thread] = []
        self._stop = threading.Event()
        self._is_at_step = False
        self.ended = ""

    @property
    def is_stopping(self) -> bool:
        return self._stop.is_set()

    def take_signals(self) -> None:
        """Ctrl-C, a plain kill and a closed terminal ask for the same; a second one changes
        nothing."""
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, self._asked)

    def _asked(self, number: int, frame: FrameType | None) -> None:
        self._stop.set()
        if self._is_at_step:
            raise KeyboardInterrupt

    @contextlib.contextmanager
    def step(self) -> Iterator[None]:
        """While the main thread is at what may take long: anyone who asks for a stop doesn't wait
        for its end. Raises KeyboardInterrupt."""
        self._is_at_step = True
        try:
            if self.is_stopping:
                raise KeyboardInterrupt
            yield
        finally:
            self._is_at_step = False
        if self.is_stopping:  # Python drops what is raised in a callback
            raise KeyboardInterrupt

    def stop(self) -> None:
        self._stop.set()

    def warm(self, commands: dict[str, list[str]]) -> None:
        """Fork what will be started by these names, with everything that this process has loaded.

        Before any thread runs, and with no connection open: neither survives a fork.
        """
        if sys.platform == "linux":
            self._warm |= {name: Warm(name, command) for name, command in commands.items()}

    def start(self, name: str, command: list[str]) -> None:
        if self.is_stopping:
            return
        if warm := self._warm.pop(name, None):
            warm.begin({**ENVIRONMENT, **of_role(name, os.environ["DATABASE_URL"])})
            self._follow(name, warm)
            return
        process = subprocess.Popen(
            command,
            env={**os.environ, **ENVIRONMENT, **of_role(name, os.environ["DATABASE_URL"])},
            cwd=settings.BASE_DIR,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        self._follow(name, process)

    def _follow(self, name: str, process: "subprocess.Popen[bytes] | Warm") -> None:
        assert process.stdout is not None
        self._running[name] = process
        processes.publish(settings.VAR_DIR, name, process.pid, processes.GROUP)
        reader = threading.Thread(target=self._pass_on, args=(name, process.stdout), daemon=True)
        reader.start()
        self._readers.append(reader)

    def pid(self, name: str) -> int | None:
        process = self._running.get(name)
        return None if process is None else process.pid

    def died(self) -> str:
        """The first process that has ended by itself, and how; empty while all run."""
        if not self.ended and not self.is_stopping:
            statuses = ((name, process.poll()) for name, process in self._running.items())
            self.ended = next(
                (
                    f"{name} stopped (rc={status})"
                    for name, status in statuses
                    if status is not None
                ),
                "",
            )
        return self.ended

    def watch(self) -> int:
        """Until a person stops it or a process dies; the exit status. Prints the one line that says
        which process died."""
        while not self._stop.wait(LOOK_SECONDS) and not self.died():
            pass
        self._stop.set()
        self.end()
        if self.ended:
            sys.stderr.write(f"the demo stops because a process ended: {self.ended}\n")
        return 1 if self.ended else 0

    def end(self, kill_seconds: float = KILL_SECONDS) -> None:
        """Ask every process to stop, then make it, with all that it has started."""
        self._stop.set()
        self._running |= self._warm  # some may not have begun
        self._warm = {}
        for process in self._running.values():
            _signal(process, signal.SIGTERM)
        deadline = time.monotonic() + kill_seconds
        for process in self._running.values():
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(max(0.0, deadline - time.monotonic()))
        for process in self._running.values():
            _signal(process, signal.SIGKILL)
            process.wait()
        for name in self._running:
            processes.forget(settings.VAR_DIR, name, processes.GROUP)
        for reader in self._readers:
            reader.join(1)

    def _pass_on(self, name: str, lines: IO[bytes]) -> None:
        for line in lines:
            # What a process says while it is being stopped helps nobody.
            if not self.is_stopping or self.ended:
                sys.stderr.write(f"{name:<{NAME_WIDTH}}| {line.decode(errors='replace')}")


def _signal(process: "subprocess.Popen[bytes] | Warm", number: signal.Signals) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, number)


def of_role(name: str, database_url: str) -> dict[str, str]:
    """Environment of a process by its role at the database; as in a deployment, web can't
    approve."""
    roles = {"web": grants.WEB, "watcher": grants.WATCHER, "signer": grants.SIGNER}
    role = roles.get(name, grants.WORKER)
    url = urlsplit(database_url)
    # One that was brought from outside has users of its own; an embedded one knows nobody by a
    # password.
    own = (
        {}
        if url.hostname or url.password
        else {"DATABASE_URL": url._replace(netloc=f"{role}@").geturl()}
    )
    return own | ({"APPROVAL_KEYS": "none"} if name == "web" else {})


def web(port: int) -> list[str]:
    """The command line of the web server. It yields to what moves money, however many pages are
    asked for."""
    server = [
        sys.executable,
        "-m",
        WEB_PROGRAM,
        "--interface",
        "asginl",
        "--no-ws",
        "--respawn-failed-workers",
        *("--backpressure", "5000"),
    ]
    yielding = ["nice", "-n", str(WEB_NICE)] if shutil.which("nice") else []
    where = ["--host", "127.0.0.1", "--port", str(port), "--workers", "2", "--log-level", "warning"]
    return [*yielding, *server, *where, "config.asgi:application"]


def jobs() -> dict[str, list[str]]:
    """The command lines of the worker and of beat."""
    celery = [str(Path(sys.executable).parent / "celery"), "--quiet", "-A", "config.celery"]
    return {
        "worker": [
            *celery,
            "worker",
            "--concurrency",
            "2",
            "--loglevel",
            "WARNING",
            "--without-gossip",
            "--without-mingle",
        ],
        "beat": [*celery, "beat", "--loglevel", "WARNING", "--pidfile", ""],
    }


def beside_web() -> dict[str, list[str]]:
    """Name -> command line of everything else."""
    commands = jobs()
    if any(settings.CHAIN_URLS.values()):
        for name, command in (("watcher", "watch_chains"), ("signer", "signer")):
            commands[name] = [sys.executable, str(settings.BASE_DIR / "manage.py"), command]
    return commands
