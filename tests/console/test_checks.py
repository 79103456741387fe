"""`manage.py test` has pytest read beforehand what it hasn't read yet, and nothing else."""

import contextlib
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from dev import embedded, scratch, short_paths
from dev.checks import not_rewritten
from tests.stack import processes_of, wait_for

ROOT = Path(__file__).resolve().parents[2]
# It has started what ignores whoever asks, and takes no interrupt itself.
STUBBORN = """
import os, pathlib, subprocess, time

def test_stubborn():
    subprocess.Popen(
        ["sh", "-c", "trap '' INT TERM; while :; do sleep 0.1; done"], start_new_session=True
    )
    pathlib.Path(os.environ["TILLGATE_VAR"], "started").touch()
    while True:
        try:
            time.sleep(1)
        except BaseException:
            pass
"""
COLLECT = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "--collect-only", "-qq", "-c"]


def collect(folder: Path) -> None:
    settings = folder / "pytest.ini"
    settings.write_text("[pytest]\n")
    environment = {**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)  # as `manage.py test` does
    subprocess.run([*COLLECT, settings, folder], env=environment, check=True, capture_output=True)


def test_only_what_pytest_has_not_read_as_it_is_now_is_read_beforehand(tmp_path: Path) -> None:
    names = ("conftest.py", "test_one.py", "inner/test_two.py")
    paths = [tmp_path / name for name in names]
    paths[-1].parent.mkdir()
    for path in paths:
        path.write_text("def test_it() -> None:\n    assert True\n")
    (tmp_path / "make.py").write_text("")

    assert not_rewritten(tmp_path) == sorted(paths)
    collect(tmp_path)
    assert not_rewritten(tmp_path) == []
    paths[-1].write_text("def test_it() -> None:\n    assert not False\n")
    assert not_rewritten(tmp_path) == [paths[-1]]


@pytest.mark.parametrize(
    "number",
    [signal.SIGINT, signal.SIGKILL, pytest.param(signal.SIGTERM, marks=pytest.mark.whole)],
)
def test_a_run_that_is_interrupted_leaves_nothing_that_runs(
    tmp_path: Path, number: signal.Signals
) -> None:
    """Ctrl-C reaches all that a terminal has in front, a kill the first of them alone."""
    (tmp_path / "test_stubborn.py").write_text(STUBBORN)
    ours = {*embedded.SERVICES, "PYTEST_CURRENT_TEST", "PYTEST_XDIST_WORKER"}
    environment = {name: value for name, value in os.environ.items() if name not in ours}
    without = {*embedded.SERVICES} - {embedded.POSTGRES, embedded.REDIS}
    environment |= {"TILLGATE_VAR": str(tmp_path), embedded.WITHOUT: ",".join(without)}
    program = [sys.executable, str(ROOT / "manage.py"), "test", "-c", str(ROOT / "pyproject.toml")]
    run = subprocess.Popen(
        [*program, "-n1", "-p", "no:cacheprovider", str(tmp_path / "test_stubborn.py")],
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
        # Who runs the tests in the background has it ignored.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    try:
        wait_for((tmp_path / "test-gw0" / "started").exists, bool, 60)
        send = os.killpg if number == signal.SIGINT else os.kill
        send(run.pid, number)
        told = run.communicate(timeout=30)[0]
        assert processes_of(tmp_path) == {}, told
    finally:
        for pid in processes_of(tmp_path):
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
    statuses = {signal.SIGINT: 130, signal.SIGTERM: 143, signal.SIGKILL: -signal.SIGKILL}
    assert run.returncode == statuses[number]
    place = f"tillgate-{os.getuid()}-{short_paths.digest(tmp_path / 'test-gw0')}*"
    assert [*scratch.MEMORY.glob(place), *scratch.DISK.glob(place)] == []


@pytest.mark.parametrize(
    ("arguments", "has_workers"),
    [
        (["tests/payments", "-n4"], True),
        (["-n", "4", "tests/payments"], True),
        (["tests/payments", "--numprocesses=4"], True),
        (["tests/payments", "-k", "net"], False),
        ([], False),
    ],
)
def test_workers_that_are_asked_for_start_services_of_their_own(
    arguments: list[str], has_workers: bool
) -> None:
    """In one set of services they would empty each other's Redis."""
    assert embedded.has_workers(arguments) == has_workers
