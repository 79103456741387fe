"""Some kills of every kind, in a process of its own; the long run is `python -m
tests.faults.long`."""

import os
import subprocess
import sys

import pytest

from dev import anvil
from tests.faults.kills import KINDS
from tests.stack import OWN, ROOT
from tests.whole import usually

# The last kind, payouts, is killed at its points by tests/payouts/test_kills.py too.
KILLS = usually(short=len(KINDS) - 1, whole=2 * len(KINDS))


@pytest.mark.chain
def test_a_killed_worker_loses_and_doubles_nothing_that_leaves() -> None:
    if anvil.anvil_program() is None or anvil.exchange_bytecode("UniswapV2Router02") is None:
        pytest.skip("no local chain with an exchange on this machine")
    environment = {name: value for name, value in os.environ.items() if name not in OWN}
    run = subprocess.run(
        [sys.executable, "-m", "tests.faults.long", str(KILLS)],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stdout + run.stderr
    assert f"{KILLS} kills, 0 faults, 0 findings" in run.stdout
