"""Every log event that means trouble is counted, has an alert and a line for operators."""

import ast
import logging
import re
from collections.abc import Iterator
from pathlib import Path

import structlog
import yaml
from prometheus_client import REGISTRY

from apps.core.process.troubles import LASTING, ONCE, PAGE, TROUBLES

ROOT = Path(__file__).resolve().parents[2]
LEVELS = {"warning", "error", "exception", "critical"}
# Whose events are chosen before they are logged: by file, the values that they may have.
CHOSEN = {"apps/chain/sending/hot_wallets.py": {"outgoing_not_approved", "outgoing_needs_review"}}
ALERTS = {"TillgateTroubleNow": PAGE, "TillgateTrouble": ONCE, "TillgateTroubleLasts": LASTING}
WORDS = {"now": PAGE, "each": ONCE, "lasting": LASTING}
_LINE = re.compile(r"^\| `([a-z_]+)` \| (now|each|lasting) \| \S", re.MULTILINE)
HOW = (
    "Each event that is logged as a warning or an error needs a row in"
    " apps/core/process/troubles.py,"
    " its name in one of the rules TillgateTrouble… of deploy/monitoring/alerts.yml, and a line in"
    " docs/operators.md under “Events in the log”"
)


def logged(path: Path) -> Iterator[str]:
    """The events of a file that mean trouble."""
    for node in ast.walk(ast.parse(path.read_text())):
        if (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Attribute)
            and node.func.attr in LEVELS
            and isinstance(node.func.value, ast.Name)
            and node.func.value.id in ("log", "logger")
        ):
            event = node.args[0]
            if isinstance(event, ast.Constant):
                yield str(event.value)
            else:
                yield from CHOSEN[str(path.relative_to(ROOT))]


def test_the_code_logs_what_the_table_lists() -> None:
    events = {event for path in (ROOT / "apps").rglob("*.py") for event in logged(path)}
    assert events == set(TROUBLES), HOW


def test_the_alerts_name_what_the_table_lists() -> None:
    groups = yaml.safe_load((ROOT / "deploy/monitoring/alerts.yml").read_text())["groups"]
    named = {
        event: ALERTS[rule["alert"]]
        for group in groups
        for rule in group["rules"]
        if rule["alert"] in ALERTS
        for event in re.findall(r'event=~"([^"]+)"', rule["expr"])[0].split("|")
    }
    assert named == TROUBLES, HOW


def test_the_operators_guide_has_a_line_for_each() -> None:
    text = (ROOT / "docs/operators.md").read_text()
    part = text.partition("### Events in the log")[2].partition("\n## ")[0]
    assert {event: WORDS[word] for event, word in _LINE.findall(part)} == TROUBLES, HOW


def test_an_event_is_counted_by_its_name() -> None:
    def count(event: str) -> float | None:
        return REGISTRY.get_sample_value("tillgate_trouble_total", {"event": event})

    before = count("node_failed")
    assert before is not None
    log = structlog.get_logger("apps.troubles")

    log.warning("node_failed", chain="sepolia")
    log.info("nothing_wrong")

    assert count("node_failed") == before + 1
    assert count("nothing_wrong") is None
    assert logging.getLogger("apps.troubles") is not None
