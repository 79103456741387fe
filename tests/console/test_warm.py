"""What is forked with everything loaded runs the command it was made for, and never outlives the
one that made it."""

import subprocess
import sys

import pytest

from dev import bootstrap
from tests.console.test_runner import is_alive, until

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="forks are safe on Linux alone")
BEGIN = """
import django, os, sys
django.setup()
from dev.demo.runner import Processes
processes = Processes()
manage = [sys.executable, "manage.py"]
sleeping = [*manage, "shell", "-c", "import time; time.sleep(60)"]
commands = {"one": [*manage, "version"], "two": sleeping}
processes.warm(commands)
print(*(process.pid for process in processes._warm.values()), flush=True)
"""


def run(rest: str) -> tuple[subprocess.CompletedProcess[str], list[int]]:
    command = [sys.executable, "-c", BEGIN + rest]
    done = subprocess.run(
        command, cwd=bootstrap.ROOT, capture_output=True, text=True, timeout=120, check=False
    )
    return done, [int(pid) for pid in done.stdout.split()]


def test_it_runs_its_command_line_in_the_environment_of_the_moment_it_begins() -> None:
    done, pids = run(
        "os.environ['LOG_LEVEL'] = 'ERROR'\n"
        "for name, command in commands.items(): processes.start(name, command)\n"
        "status = processes.watch()\n"
        "sys.exit(status)"
    )
    assert "one     | 5.2" in done.stderr
    assert "the demo stops because a process ended: one stopped (rc=0)" in done.stderr
    assert done.returncode == 1
    assert not any(is_alive(pid) for pid in pids)


def test_what_has_not_begun_ends_with_its_parent() -> None:
    done, pids = run("os._exit(0)")
    assert (done.returncode, len(pids)) == (0, 2)
    until(lambda: not any(is_alive(pid) for pid in pids))
