"""Helm and the schemas of Kubernetes, for the tests of deploy/helm: in an environment of their own,
as they are large and nothing else needs them.

Helm is its own Go library (helm-python-sdk), so what is rendered here is what `helm template`
renders.
"""

import json
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dev.apart import Apart

APART = Apart("charts", "no Helm, so the tests of the chart are skipped")
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
    return APART.is_installed()


def install(index: dict[str, str]) -> None:
    """Never fatal: without it the tests of the chart are skipped."""
    APART.install(index)


def render(chart: Path, *values: dict[str, Any]) -> list[RenderedChart]:
    """The chart as release `pay` of the namespace `payments`, with each of these values."""
    request = {"chart": str(chart), "values": values}
    finished = subprocess.run(
        [str(APART.python), str(PROGRAM)],
        input=json.dumps(request),
        capture_output=True,
        text=True,
        check=True,
    )
    return [RenderedChart(**answer) for answer in json.loads(finished.stdout)]
