"""Benchmarks bring what they need, or name in one line what is missing."""

import os
import subprocess
import sys

from dev import bootstrap


def test_without_a_chain_a_benchmark_ends_with_one_line_that_says_what_to_do() -> None:
    code = (
        "from pathlib import Path; from dev import anvil, bootstrap; from tests.bench"
        " import harness\nbootstrap.TOOLS = anvil.ROOT = Path('/nowhere'); bootstrap._npm ="
        " lambda: None\nharness.chain_program()"
    )
    environ = {name: value for name, value in os.environ.items() if name != "TILLGATE_ANVIL"}
    found = subprocess.run(
        [sys.executable, "-c", code],
        cwd=bootstrap.ROOT,
        env={**environ, "PATH": "/nowhere"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert found.returncode == 1
    assert "Traceback" not in found.stderr
    assert found.stderr.splitlines()[-1].startswith("this benchmark needs a local chain")
