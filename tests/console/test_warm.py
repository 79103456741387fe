"""A process forked with everything loaded runs the command it was made for, and never outlives the
one that made it."""

import subprocess
import sys

import pytest

from dev import bootstrap
from tests.console.test_runner import is_alive, until

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="forks are safe on Linux alone")
# One ends before what it has made begins; the other begins it.
MAKE_BOTH = """
import django, os, sys
django.setup()
from dev.demo.runner import Processes
processes = Processes()
manage = [sys.executable, "manage.py"]
sleeping = [*manage, "shell", "-c", "import time; time.sleep(60)"]
commands = {"one": [*manage, "version"], "two": sleeping}
def warm():
    processes.warm(commands)
    print(*(process.pid for process in processes._warm.values()), flush=True)
first = os.fork()
if not first:
    warm()
    os._exit(0)
os.waitpid(first, 0)
warm()
os.environ["LOG_LEVEL"] = "ERROR"
for name, command in commands.items():
    processes.start(name, command)
sys.exit(processes.watch())
"""


@pytest.fixture(scope="module")
def done() -> "subprocess.CompletedProcess[str]":
    command = [sys.executable, "-c", MAKE_BOTH]
    return subprocess.run(
        command, cwd=bootstrap.ROOT, capture_output=True, text=True, timeout=120, check=False
    )


def pids(line: str) -> list[int]:
    return [int(pid) for pid in line.split()]


def test_it_runs_its_command_line_in_the_environment_of_the_moment_it_begins(
    done: "subprocess.CompletedProcess[str]",
) -> None:
    assert "one     | 5.2" in done.stderr
    assert "the demo stops because a process ended: one stopped (rc=0)" in done.stderr
    assert done.returncode == 1
    begun = pids(done.stdout.splitlines()[1])
    assert len(begun) == 2 and not any(is_alive(pid) for pid in begun)


def test_what_has_not_begun_ends_with_its_parent(done: "subprocess.CompletedProcess[str]") -> None:
    made = pids(done.stdout.splitlines()[0])
    assert len(made) == 2
    until(lambda: not any(is_alive(pid) for pid in made))
