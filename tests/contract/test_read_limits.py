"""Reads are let through by what they ask for, counted by credential and store."""

import re
import socket
import time
from typing import Any

import pytest
from django.conf import settings as project

from apps.access.services import authenticate
from apps.api.urls import ROUTES
from apps.core.redis import buckets
from tests.cast import Api, Shop
from tests.contract.test_limits import create, refused
from tests.stage import empty_buckets


def reads_left(answer: Any) -> int:
    assert answer.headers["RateLimit-Policy"] == '"reads";q=6000;w=60'
    return int(answer.headers["X-RateLimit-Remaining"])


def test_every_read_with_a_credential_has_a_budget() -> None:
    reads = [route for route in ROUTES if "GET" in route.scopes]
    assert [route.path for route in reads if not route.budgets("GET")] == []
    assert [
        (route.path, method)
        for route in ROUTES
        for method in route.scopes
        if method != "GET" and "reads" in {line.policy for line in route.budgets(method)}
    ] == []


def test_reads_are_counted_by_credential(bakery: Shop) -> None:
    key = authenticate(bakery.secrets["test"]).credential_id
    whose = f"{bakery.store.pk}:{key}"
    refusal = refused(lambda: bakery.test.get("/balances"), "reads", whose, "test")
    assert refusal.json()["error"]["code"] == "rate_limited"
    assert re.fullmatch(r"[1-9]\d*", refusal.headers["Retry-After"])
    other = bakery.with_scopes("payments:read", "payments:write")
    full = project.LIMITS["reads"]["test"][1]
    assert reads_left(other.get("/payments")) == full - 1
    assert create(bakery.test).status_code == 201


WEIGHTS: list[tuple[str, int]] = [
    ("/payments", 1),
    ("/payments/00000000-0000-4000-8000-000000000000", 1),
    ("/payments?per_page=49", 1),
    ("/payments?per_page=100", 3),
    ("/payments?per_page=100&page=101", 5),
    ("/payments?page=999999999999", 60),
    ("/payments?reference=AB", 6),
    ("/payments?q=AB&per_page=100", 8),
    ("/payments?order_id=AB", 1),
    ("/payments?page=none&per_page=-1", 1),
    ("/payments/summary", 1),
    ("/payments/summary?from=2026-01-01&to=2026-01-31", 1),
    ("/payments/summary?from=2025-01-01&to=2025-12-31", 12),
    ("/payments/summary?from=2025-12-31&to=2025-01-01", 1),
    ("/payments/summary?from=0001-01-01&to=9999-12-31", 60),
    ("/payments/summary?from=nothing", 1),
    ("/events?per_page=100", 3),
    ("/payouts?page=501&per_page=100", 13),
]


def test_a_read_counts_by_what_it_asks_for(bakery: Shop) -> None:
    full = project.LIMITS["reads"]["test"][1]
    for path, weight in WEIGHTS:
        empty_buckets()
        left = reads_left(bakery.test.get(path))
        assert full - weight <= left <= min(full - 1, full - weight + 30), path


def test_what_an_agent_reads_counts_as_one_request(bakery: Shop) -> None:
    agent = Api(bakery.secrets["test_agent"])
    answer = agent.get("/agentic/payments?per_page=100&page=900")
    assert answer.headers["X-RateLimit-Remaining"] == str(project.LIMITS["agentic"]["test"][1] - 1)


def test_a_silent_redis_holds_up_one_read_and_not_the_next(
    bakery: Shop, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(buckets, "_TIMEOUT_SECONDS", 0.5)  # as in a process that serves
    with socket.create_server(("127.0.0.1", 0)) as silent:
        settings.REDIS_URL = f"redis://127.0.0.1:{silent.getsockname()[1]}"
        for item in (buckets.client, buckets._bucket):
            item.cache_clear()
        try:
            began = time.monotonic()
            answers = [bakery.test.get("/balances") for _ in range(5)]
            seconds = time.monotonic() - began
        finally:
            buckets._absence.until = 0
            for item in (buckets.client, buckets._bucket):
                item.cache_clear()
    assert {answer.status_code for answer in answers} == {200}
    assert not any("RateLimit" in answer.headers for answer in answers)
    assert seconds < 2.5, "each would have waited for half a second"
