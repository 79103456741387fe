"""Programs of the set-up end with it, and at once: by Ctrl-C, and when it is killed."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from dev import running
from tests.stack import wait_for

ROOT = Path(__file__).resolve().parents[2]
# Two lanes with a program each, one of which ignores whoever asks, as the set-up walks them.
LANES = """
import signal, sys
sys.path.insert(0, sys.argv[1])
signal.signal(signal.SIGINT, signal.default_int_handler)
from dev import bootstrap, running

def lane(*command):
    return [bootstrap.SetupStep(command[-1], lambda: False, lambda: running.run(*command), 60)]

STUBBORN = "trap '' INT TERM; sleep {0} & while :; do wait; done".format(sys.argv[2])
bootstrap._lanes = lambda command: [lane("sleep", sys.argv[2]), lane("sh", "-c", STUBBORN)]
bootstrap.machine.needs = lambda command: [bootstrap.machine.Need("nothing", list)]
bootstrap.machine.missing_for_environment = list
bootstrap.VENV = bootstrap.ROOT / "nowhere"
bootstrap._has_requirements = lambda: False
print("begun", flush=True)
bootstrap.hand_over("demo")
"""


@pytest.fixture
def seconds() -> str:
    """How long the programs would run: a number that no other program has."""
    return f"6{os.getpid()}.{time.monotonic_ns() % 10**6}"


@pytest.fixture
def set_up(seconds: str) -> "Iterator[subprocess.Popen[str]]":
    process = subprocess.Popen(
        [sys.executable, "-c", LANES, str(ROOT), seconds],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    wait_for(lambda: len(programs(seconds)), lambda count: count >= 3)
    yield process
    process.kill()
    process.communicate()
    for pid in programs(seconds):
        os.kill(pid, signal.SIGKILL)


def programs(seconds: str) -> list[int]:
    found = subprocess.run(["pgrep", "-f", f"sleep {seconds}"], capture_output=True, check=False)
    return [int(pid) for pid in found.stdout.split()]


def test_ctrl_c_ends_the_set_up_and_all_that_it_runs_at_once(
    set_up: "subprocess.Popen[str]", seconds: str
) -> None:
    set_up.send_signal(signal.SIGINT)
    told = set_up.communicate(timeout=20)[1]
    assert set_up.returncode == 130
    assert told.endswith("Set-up stopped. The next start goes on from here.\n"), told
    assert "Traceback" not in told
    assert programs(seconds) == []


def test_a_set_up_that_is_killed_takes_its_programs_with_it(
    set_up: "subprocess.Popen[str]", seconds: str
) -> None:
    before = programs(seconds)
    set_up.kill()
    set_up.wait()
    # What a program has started itself is in nobody's hand; the set-up's have no such.
    wait_for(lambda: len(programs(seconds)), lambda count: count <= len(before) - 2)


def test_what_a_program_says_is_kept_and_may_be_followed() -> None:
    finished = running.run("sh", "-c", "echo one; echo two >&2; exit 3")
    assert (finished.returncode, finished.stdout, finished.stderr) == (3, "one\n", "two\n")
    lines: list[str] = []
    followed = running.run("sh", "-c", "echo one; echo two >&2", follow=lines.append)
    assert lines == ["one\n", "two\n"]
    assert followed.stdout == "one\ntwo\n"


def test_a_name_can_be_taken_out_of_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DATABASE_URL", "postgresql://shop")
    line = "echo ${DATABASE_URL-none} $NAME"
    assert running.run("sh", "-c", line, env={"DATABASE_URL": None, "NAME": "x"}).stdout == (
        "none x\n"
    )
