"""`manage.py test` has pytest read beforehand what it hasn't read yet, and nothing else."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from dev import embedded
from dev.checks import not_rewritten

COLLECT = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "--collect-only", "-qq", "-c"]


def collect(folder: Path) -> None:
    settings = folder / "pytest.ini"
    settings.write_text("[pytest]\n")
    environment = {**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
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
