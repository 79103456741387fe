"""Metrics that deploy/monitoring asks Prometheus for are exported, and each alert leads to a page
that says what to do."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import yaml
from django.conf import settings
from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.parser import text_string_to_metric_families

from apps.chain.models import Head
from apps.chain.networks.evm import block_roots
from apps.chain.watching import internal_transfers  # what the watcher counts
from apps.console.pooler_figures import PoolerCollector
from apps.core import clock
from apps.core.process import heartbeats
from config import celery_figures  # what workers and beat count
from tests import make
from tests.cast import assemble
from tests.stage import standing

ROOT = Path(__file__).resolve().parents[2]
ALERTS = ROOT / "deploy/monitoring/alerts.yml"
DASHBOARD = ROOT / "deploy/monitoring/dashboard.json"
# A metric's name with its matchers, of ours or of django-prometheus.
_SELECTOR = re.compile(r"\b((?:tillgate|django)_\w+)(?:\{([^}]*)\})?")
_MATCHER = re.compile(r'(\w+)=(~?)"([^"]*)"')
_HEADING = re.compile(r"^#+ (.+)$", re.MULTILINE)
_SUFFIXES = {
    "counter": ("_total",),
    "histogram": ("_bucket", "_sum", "_count"),
    "summary": ("_sum", "_count"),
}
# Values of these are the operator's own, or come with traffic.
_FREE_LABELS = {"asset", "status", "chain", "event"}


class Exported(NamedTuple):
    names: set[str]
    labels: dict[tuple[str, str], set[str]]


def scraped() -> Exported:
    """A scrape of a service with something in it."""
    shop = assemble().bakery
    make.service_coins("ETH", 10**18)
    at = clock.real_now()
    Head.objects.get_or_create(
        chain_id="ethereum",
        defaults={"number": 1, "hash": "0x" + "00" * 32, "block_time": at, "synced_at": at},
    )
    assert celery_figures and internal_transfers
    for part in heartbeats.HeartbeatPart:
        heartbeats.beat(part)
    assert block_roots.agreed("ethereum", "receipts_root", {}, lambda: ("found", True))
    answer = shop.test.client.get(
        "/metrics", headers={"Authorization": f"Bearer {settings.METRICS_TOKEN}"}
    )
    of_the_watcher = CollectorRegistry()
    of_the_watcher.register(PoolerCollector())
    pages = answer.content + generate_latest(of_the_watcher)
    names: set[str] = set()
    labels: dict[tuple[str, str], set[str]] = {}
    for family in text_string_to_metric_families(pages.decode()):
        # One that hasn't counted anything yet has no sample.
        names |= {family.name + suffix for suffix in _SUFFIXES.get(family.type, ("",))}
        for sample in family.samples:
            for label, value in sample.labels.items():
                labels.setdefault((sample.name, label), set()).add(value)
    return Exported(names, labels)


@pytest.fixture(scope="module")
def scrape(django_db_setup: None, django_db_blocker: Any) -> Iterator[Exported]:
    yield from standing(django_db_blocker, scraped)


@pytest.fixture
def exported(scrape: Exported, db: None) -> Exported:
    return scrape


def alerts() -> list[dict[str, object]]:
    groups = yaml.safe_load(ALERTS.read_text())["groups"]
    return [rule for group in groups for rule in group["rules"]]


def panels() -> list[str]:
    return [
        target["expr"]
        for panel in json.loads(DASHBOARD.read_text())["panels"]
        for target in panel["targets"]
    ]


def unknown(expression: str, exported: Exported) -> list[str]:
    """Names and labels of an expression that nothing exports."""
    wrong = []
    for name, matchers in _SELECTOR.findall(expression):
        if name not in exported.names:
            wrong.append(name)
        for label, _, value in _MATCHER.findall(matchers):
            known = exported.labels.get((name, label), set())
            if label not in _FREE_LABELS and not set(value.split("|")) <= known:
                wrong.append(f'{name}{{{label}="{value}"}}')
    return wrong


def anchors() -> set[str]:
    """The anchors of the operators' guide, as GitHub and GitLab make them."""
    headings = _HEADING.findall((ROOT / "docs/operators.md").read_text())
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def test_alerts_ask_for_what_is_exported(exported: Exported) -> None:
    expressions = [str(rule["expr"]) for rule in alerts()]
    assert len(expressions) > 10
    assert {
        expression: wrong for expression in expressions if (wrong := unknown(expression, exported))
    } == {}


def test_the_dashboard_asks_for_what_is_exported(exported: Exported) -> None:
    assert len(panels()) > 10
    assert {panel: wrong for panel in panels() if (wrong := unknown(panel, exported))} == {}


def test_an_unknown_name_or_value_would_be_found(exported: Exported) -> None:
    assert unknown('tillgate_waiting{queue="mail"} > 0', exported) == []
    assert unknown('tillgate_wating > 0 or tillgate_waiting{queue=~"mail|male"} > 0', exported) == [
        "tillgate_wating",
        'tillgate_waiting{queue="mail|male"}',
    ]


@pytest.mark.parametrize("rule", alerts(), ids=lambda rule: str(rule["alert"]))
def test_an_alert_says_how_urgent_it_is_and_what_to_do(rule: dict[str, dict[str, str]]) -> None:
    assert rule["labels"]["severity"] in ("page", "ticket")
    assert rule["annotations"]["summary"].strip()
    page, _, anchor = rule["annotations"]["runbook"].partition("#")
    assert page == "docs/operators.md" and anchor in anchors()


def test_every_figure_that_people_are_called_for_has_an_alert() -> None:
    """Records in review or in trouble are somebody's business."""
    asked = " ".join(str(rule["expr"]) for rule in alerts())
    for name in (
        "tillgate_review",
        "tillgate_rows_dead",
        "tillgate_chain_lag_seconds",
        "tillgate_jobs_queued",
        "tillgate_heartbeat_age_seconds",
        "tillgate_pooler_up",
        "tillgate_pooler_wait_seconds",
        "tillgate_replica_up",
        "tillgate_replica_lag_seconds",
        "tillgate_request_log_days_ahead",
        "tillgate_webhook_days_ahead",
        "tillgate_history_rows_ahead",
    ):
        assert name in asked
    for trouble in (
        "hot_wallet_halted",
        "unapproved_transaction",
        "mail_given_up",
        "unmatched_transfer",
    ):
        assert trouble in asked
