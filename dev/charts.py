"""Helm and the schemas of Kubernetes, for the tests of deploy/helm: in an environment of their own,
as they are large and nothing else needs them.

Helm is its own Go library (helm-python-sdk), so what is rendered here is what `helm template`
renders.
"""

import hashlib
import json
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dev.running import last_line, run, say

ROOT = Path(__file__).resolve().parent.parent
LOCK = ROOT / "requirements" / "charts.txt"
FOLDER = ROOT / ".tools" / "charts"
STAMP = FOLDER / ".requirements"
PROGRAM = Path(__file__).with_name("chart_program.py")


@dataclass(frozen=True)
class RenderedChart:
    """A chart with values: its objects, what `helm lint` says, and what the schemas of Kubernetes
    refuse; or why it isn't rendered."""

    refusal: str
    objects: list[dict[str, Any]]
    notes: str
    lint: list[str]
    invalid: list[str]


def is_installed() -> bool:
    return STAMP.exists() and STAMP.read_text() == _digest()


def _digest() -> str:
    return hashlib.sha256(LOCK.read_bytes()).hexdigest()


def install(index: dict[str, str]) -> None:
    """Never fatal: without it the tests of the chart are skipped. `index` tells uv which package
    index this machine uses."""
    uv = Path(sys.prefix) / "bin" / "uv"
    if not uv.exists():
        uv = ROOT / ".venv" / "bin" / "uv"
    python = str(uv.with_name("python"))
    run(str(uv), "venv", "--quiet", "--clear", "--python", python, str(FOLDER))
    finished = run(
        *(str(uv), "pip", "install", "--quiet", "--require-hashes"),
        *("--python", str(FOLDER / "bin" / "python"), "-r", str(LOCK)),
        env=index,
    )
    if finished.returncode:
        say(f"no Helm, so the tests of the chart are skipped ({last_line(finished)})")
        return
    STAMP.write_text(_digest())


def render(chart: Path, *values: dict[str, Any]) -> list[RenderedChart]:
    """The chart as release `pay` of the namespace `payments`, with each of these values."""
    request = {"chart": str(chart), "values": values}
    finished = subprocess.run(
        [str(FOLDER / "bin" / "python"), str(PROGRAM)],
        input=json.dumps(request),
        capture_output=True,
        text=True,
        check=True,
    )
    return [RenderedChart(**answer) for answer in json.loads(finished.stdout)]
