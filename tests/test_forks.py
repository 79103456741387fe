"""A fork is a process like any other: it ends as it ends, says what it says, and keeps its settings
to itself."""

import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.forks import Forks
from tests.stack import wait_for


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


def test_one_that_goes_on_is_watched_and_ended_like_any_process(
    forks: Forks, tmp_path: Path
) -> None:
    log = tmp_path / "log"
    script = "import os, time; print(os.environ['TOLD'], flush=True); time.sleep(600)"
    fork = forks.start(script, log, TOLD="here")
    wait_for(log.read_text, "here\n".__eq__)
    assert (fork.poll(), os.getsid(fork.pid)) == (None, fork.pid)
    assert forks.run("print('meanwhile')").stdout == "meanwhile\n"
    fork.terminate()
    assert (fork.wait(30), fork.poll()) == (-signal.SIGTERM, -signal.SIGTERM)
    ended = forks.start("raise SystemExit(3)", log)
    assert ended.wait(30) == 3
