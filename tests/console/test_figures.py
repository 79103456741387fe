"""Figures and alerts of operators: each figure is there, and counts what it says."""

from datetime import timedelta
from typing import Any

import pytest
from django.conf import settings
from prometheus_client import CollectorRegistry, generate_latest

from apps.assets.models import Asset
from apps.chain.sending import obstacles
from apps.console.figures import Figures
from apps.core import clock, mail
from apps.core.models import OutgoingMail
from apps.stores.models import Verification
from apps.webhooks.models import Delivery, Host
from apps.webhooks.requests import EndpointRequest
from apps.webhooks.services.endpoints import register_endpoint
from tests import make
from tests.cast import Api, Shop


def told() -> dict[str, float]:
    """Every figure by its line in the exposition."""
    registry = CollectorRegistry()
    registry.register(Figures())
    lines = [
        line.rpartition(" ")
        for line in generate_latest(registry).decode().splitlines()
        if not line.startswith("#")
    ]
    return {name: float(value) for name, _, value in lines}


def test_what_is_due_and_not_done_is_counted_with_the_oldest(bakery: Shop, settings: Any) -> None:
    register_endpoint(
        bakery.access("live"),
        EndpointRequest(url="https://1.1.1.1/hook", subscribed_events=["payment_intent.created"]),
    )
    make.payment(bakery.live)
    mail.send(
        key="x",
        to="a@b.example",
        template="account_changed",
        context={"what": "x", "email": "", "at": clock.real_now(), "address": ""},
    )
    before = clock.real_now() - timedelta(minutes=10)
    Delivery.objects.update(next_attempt_at=before)
    assert told()['tillgate_waiting{queue="webhook_deliveries"}'] == 0, (
        "anybody can name a host that never answers"
    )
    Host.objects.create(name="1.1.1.1", answered_at=before)
    OutgoingMail.objects.update(next_attempt_at=before)
    figures = told()
    for queue in ("webhook_deliveries", "mail"):
        assert figures[f'tillgate_waiting{{queue="{queue}"}}'] == 1
        assert figures[f'tillgate_waiting_oldest_seconds{{queue="{queue}"}}'] == pytest.approx(
            600, abs=60
        )
    assert (
        figures['tillgate_waiting{queue="payouts"}']
        == figures['tillgate_waiting_oldest_seconds{queue="payouts"}']
        == 0
    )


def test_what_waits_for_a_person_and_what_went_wrong_is_counted(bakery: Shop) -> None:
    before = told()
    times = dict.fromkeys(("created_at", "updated_at", "submitted_at"), clock.real_now())
    Verification.objects.create(
        store=bakery.store, business_legal_name="B", business_country="DE", **times
    )
    OutgoingMail.objects.create(
        key="y",
        to="a@b.example",
        template="x",
        status=OutgoingMail.Status.FAILED,
        created_at=clock.real_now(),
        next_attempt_at=None,
    )
    after = told()
    for name in ('tillgate_review{what="verification"}', 'tillgate_trouble{what="mail_given_up"}'):
        assert after[name] == before[name] + 1
    assert (
        after['tillgate_review{what="payout"}'] == 0
        and after['tillgate_jobs_queued{queue="reports"}'] >= 0
    )


def test_the_hot_wallet_is_told_in_whole_coins(bakery: Shop) -> None:
    make.service_coins("ETH", 25 * 10**17)
    assert told()['tillgate_hot_wallet_booked{asset="ETH",mode="live"}'] == pytest.approx(2.5)


def test_a_token_that_moves_for_nobody_and_the_floor_of_gas_are_told(bakery: Shop) -> None:
    assert told()['tillgate_coins_stopped{asset="ETH_USDC",kind="token"}'] == 0
    obstacles.note(Asset.objects.get(pk="ETH_USDC"), "", "token", clock.real_now())
    assert told()['tillgate_coins_stopped{asset="ETH_USDC",kind="token"}'] == 1
    assert told()['tillgate_gas_floor{asset="POL"}'] == 200


def test_the_figures_are_for_those_who_hold_the_token(db: None) -> None:
    api = Api()
    assert api.client.get("/metrics").status_code == 401
    answer = api.client.get(
        "/metrics", headers={"Authorization": f"Bearer {settings.METRICS_TOKEN}"}
    )
    assert answer.status_code == 200
    for name in (
        "tillgate_waiting",
        "tillgate_review",
        "tillgate_trouble",
        "tillgate_jobs_queued",
        "tillgate_chain_lag_seconds",
    ):
        assert f"# TYPE {name} gauge" in answer.content.decode()
