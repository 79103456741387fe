"""The demo's processes under one roof: when one dies all are stopped, and a stop leaves none behind.

Each runs in a process group of its own; what has not stopped after three seconds is killed.
"""

import os
import shlex
import signal
import sys
import threading
from pathlib import Path

from django.conf import settings
from honcho.manager import SYSTEM_PRINTER_NAME, Manager
from honcho.printer import Message, Printer

KILL_SECONDS = 3.0
RETRY_SECONDS = 0.1
STOPPED_BY_PERSON = (130, 143)
# In a container the demo may well run as root; it is nobody's production.
ENVIRONMENT = {"PYTHONUNBUFFERED": "1", "PYTHONWARNINGS": "ignore:You're running the worker with superuser"}


class _Lines(Printer):  # type: ignore[misc]  # honcho has no types
    """Passes on what the processes print; keeps honcho's own lines for us."""

    def __init__(self) -> None:
        super().__init__(sys.stderr)
        self.first_stopped = ""

    def write(self, message: Message) -> None:
        if message.name != SYSTEM_PRINTER_NAME:
            super().write(message)
        elif " stopped (rc=" in message.data and not self.first_stopped:
            self.first_stopped = message.data.strip()


class _Processes(Manager):  # type: ignore[misc]  # honcho has no types
    def __init__(self, printer: _Lines) -> None:
        super().__init__(printer)
        self.was_asked = False

    def terminate(self) -> None:
        """Ask every process to stop, then make it."""
        if not self._all_started():
            threading.Timer(RETRY_SECONDS, self.terminate).start()
            return
        if not self._terminating:
            self.was_asked = self.returncode in STOPPED_BY_PERSON
            timer = threading.Timer(KILL_SECONDS, self.kill)
            timer.daemon = True
            timer.start()
        super().terminate()


def run(port: int) -> int:
    """Run until a person stops it or a process dies; the exit status. Prints the one line that says which process died."""
    lines = _Lines()
    processes = _Processes(lines)
    for name, command in commands(port).items():
        processes.add_process(name, "exec " + shlex.join(command), env={**os.environ, **ENVIRONMENT}, cwd=str(settings.BASE_DIR))
    # A closed terminal stops the demo as Ctrl-C does.
    signal.signal(signal.SIGHUP, lambda *_: os.kill(os.getpid(), signal.SIGTERM))
    try:
        processes.loop()
    finally:
        processes.kill()
    if processes.was_asked:
        return 0
    sys.stderr.write(f"the demo stops because a process ended: {lines.first_stopped}\n")
    return 1


def commands(port: int) -> dict[str, list[str]]:
    """Name -> command line of everything that runs beside the services."""
    python, programs = sys.executable, Path(sys.executable).parent
    celery = [str(programs / "celery"), "--quiet", "-A", "config.celery"]
    web = [str(programs / "granian"), "--interface", "asginl", "--no-ws", "--respawn-failed-workers"]
    found = {
        "web": [*web, "--host", "127.0.0.1", "--port", str(port), "--workers", "2", "--log-level", "warning", "config.asgi:application"],
        "worker": [*celery, "worker", "--concurrency", "2", "--loglevel", "WARNING", "--without-gossip", "--without-mingle"],
        "beat": [*celery, "beat", "--loglevel", "WARNING", "--pidfile", ""],
    }
    if any(settings.CHAIN_URLS.values()):
        found["watcher"] = [python, str(settings.BASE_DIR / "manage.py"), "watch_chains"]
    return found
