"""Programs beside the service begin without it: they start services of their own."""

import subprocess
import sys

import pytest

from tests.house.files import ROOT

# Those of docs/developers.md that read no settings.
PROGRAMS = (
    "agents",
    "documents",
    "failover",
    "long",
    "neighbours",
    "outages",
    "same_key",
    "shards",
)


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_program_begins_without_settings(name: str) -> None:
    run = subprocess.run(  # our own module
        [sys.executable, "-c", f"import tests.faults.{name}"],
        cwd=ROOT,
        env={"PATH": ""},
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stderr
