"""A worker and beat as processes of their own on the test database, which know one periodic job:
the heartbeat. Others would touch what other tests have committed."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from apps.core import local_chain
from apps.core.models import Heartbeat
from dev import embedded
from tests import postgres
from tests.stack import ROOT

END_SECONDS = 20
_ONE_JOB = (
    "import sys; from config.celery import app;"
    " app.conf.beat_schedule = {'core.heartbeat': {'task': 'core.heartbeat', 'schedule': 1.0}};"
    " app.start(sys.argv[1:])"
)
WORKER = [
    *(sys.executable, "-m", "celery", "-A", "config.celery", "worker"),
    "--queues",
    "celery",
    "--concurrency",
    "2",
    "--loglevel",
    "WARNING",
]
WATCHER = [sys.executable, "manage.py", "watch_chains"]


def beat(folder: Path) -> list[str]:
    schedule = ["--schedule", str(folder / "beat"), "--pidfile", ""]
    return [sys.executable, "-c", _ONE_JOB, "beat", "--loglevel", "WARNING", *schedule]


@contextmanager
def running(
    commands: dict[str, list[str]], folder: Path, environments: dict[str, dict[str, str]]
) -> Iterator[None]:
    """Each command by its name, with what its environment has besides; no chain is read."""
    chains = (local_chain.ETHEREUM, local_chain.SEPOLIA, local_chain.LITECOIN)
    environment = {
        **{key: value for key, value in os.environ.items() if key not in chains},
        **postgres.environment(),
        "TILLGATE_ENV": "test",
        embedded.WITHOUT: ",".join(chains),
    }
    with (folder / "log").open("ab") as log:
        processes = [
            subprocess.Popen(
                command,
                env={**environment, **environments[process]},
                cwd=ROOT,
                stdout=log,
                stderr=log,
            )
            for process, command in commands.items()
        ]
        try:
            yield
        finally:
            for started in processes:
                started.send_signal(signal.SIGTERM)
            for started in processes:
                _wait(started)
            Heartbeat.objects.all().delete()


def _wait(process: "subprocess.Popen[bytes]") -> None:
    try:
        process.wait(END_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
