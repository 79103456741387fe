"""A fork is a process like any other: it ends as it ends, says what it says, and keeps what it was
told to itself."""

import os
import signal
from collections.abc import Iterator

import pytest

from tests.forks import Forks


@pytest.fixture(scope="module")
def forks() -> Iterator[Forks]:
    running = Forks({**os.environ, "TILLGATE_ENV": "test"})
    yield running
    running.end()


def test_it_is_a_process_of_its_own_with_every_app_loaded(forks: Forks) -> None:
    script = """
import os, sys
from django.apps import apps
print(os.getpid(), os.environ["TOLD"], apps.ready, "apps.payments.models" in sys.modules)
print("and this", file=sys.stderr)
"""
    runs = [forks.run(script, TOLD=told) for told in ("one", "two")]
    assert [run.returncode for run in runs] == [0, 0]
    assert [run.stdout.split()[1:] for run in runs] == [[t, "True", "True"] for t in ("one", "two")]
    assert len({os.getpid(), *(int(run.stdout.split()[0]) for run in runs)}) == 3
    assert {run.stderr for run in runs} == {"and this\n"}


def test_what_one_was_told_and_has_changed_no_other_knows(forks: Forks) -> None:
    changed = "import os; from django.conf import settings; settings.SECRET_KEY = 'own'"
    assert forks.run(changed, TOLD="here").returncode == 0
    asked = "import os; from django.conf import settings; print(settings.SECRET_KEY, *os.environ)"
    told = forks.run(asked).stdout.split()
    assert told[0] != "own" and "TOLD" not in told


def test_how_it_ends_is_told(forks: Forks) -> None:
    killed = forks.run(f"import os; os.kill(os.getpid(), {signal.SIGKILL:d})")
    broken = forks.run("raise ValueError('so it is')")
    assert (killed.returncode, broken.returncode) == (-signal.SIGKILL, 1)
    assert "ValueError: so it is" in broken.stderr
