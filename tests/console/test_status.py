"""/status tells anybody how the service is: in words, since when, and nothing that is nobody's
business."""

from datetime import timedelta
from typing import Any

import pytest
from django.db import DatabaseError, connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from apps.assets.models import Rate
from apps.chain.models import Head, HotWallet
from apps.chain.sending import sender
from apps.console import status
from apps.console.status import State
from apps.core import clock
from apps.core.models import OutgoingMail
from apps.webhooks.models import Delivery, Host
from apps.webhooks.requests import EndpointRequest
from apps.webhooks.services.endpoints import register_endpoint
from tests import make
from tests.cast import Shop


@pytest.fixture(autouse=True)
def _asked_anew(db: None, settings: Any) -> None:
    settings.CHAIN_URLS = {"ethereum": ["http://127.0.0.1:1"]}
    at = clock.real_now()
    Head.objects.update_or_create(
        chain_id="ethereum",
        defaults={"number": 1, "hash": "0x" + "00" * 32, "block_time": at, "synced_at": at},
    )
    status.forget()


def states() -> dict[str, State]:
    status.forget()
    return {str(component.name): component.state for component in status.current().components}


def page() -> str:
    status.forget()
    answer = Client().get("/status")
    assert answer.status_code == 200
    return answer.content.decode()


def test_a_service_that_is_well_says_so() -> None:
    assert set(states().values()) == {State.OPERATIONAL}
    assert set(states()) == {
        "API",
        "Checkout",
        "Webhooks",
        "Ethereum deposits",
        "Ethereum payouts",
        "Email",
    }
    text = page()
    assert "All systems operational" in text and "Since" not in text


def test_what_is_late_is_told_with_its_time(bakery: Shop) -> None:
    since = clock.real_now() - timedelta(minutes=40)
    Head.objects.update(synced_at=since)
    HotWallet.objects.create(
        chain_id="ethereum",
        address="0x" + "ab" * 20,
        next_nonce=4711,
        halted_at=since,
        halted_reason="a secret of ours",
    )
    OutgoingMail.objects.create(
        key="x", to="anna@customer.example", template="x", created_at=since, next_attempt_at=since
    )
    Rate.objects.update(valid_until=since)
    assert states() == {
        "API": State.OPERATIONAL,
        "Checkout": State.DOWN,
        "Webhooks": State.OPERATIONAL,
        "Ethereum deposits": State.DELAYED,
        "Ethereum payouts": State.PAUSED,
        "Email": State.DELAYED,
    }
    text = page()
    assert (
        text.count(f'datetime="{since.isoformat()}"') == 4 and "Some systems are affected" in text
    )
    for private in ("a secret of ours", "anna@", "4711", "abab", bakery.store.name):
        assert private not in text


def test_webhooks_are_late_only_for_those_who_answer(bakery: Shop) -> None:
    """Anybody can name a receiver that hangs; nobody makes the page say that everybody's webhooks
    are late."""
    register_endpoint(
        bakery.access("live"),
        EndpointRequest(url="https://1.1.1.1/hook", subscribed_events=["payment_intent.created"]),
    )
    make.payment(bakery.live)
    Delivery.objects.update(next_attempt_at=clock.real_now() - timedelta(minutes=6))
    assert states()["Webhooks"] == State.OPERATIONAL
    Host.objects.create(name="1.1.1.1", answered_at=clock.real_now())
    assert states()["Webhooks"] == State.DELAYED


def test_a_payout_that_waits_long_delays_its_chain() -> None:
    asked = {
        "asset_id": "ETH",
        "to": "0x" + "cd" * 20,
        "amount_atomic": 1,
        "purpose": "test_payment",
        "mode": "live",
        "chain_id": "ethereum",
    }
    sender.request(**asked, reference="young", at=clock.real_now() - timedelta(minutes=29))
    assert states()["Ethereum payouts"] == State.OPERATIONAL
    sender.request(**asked, reference="old", at=clock.real_now() - timedelta(minutes=31))
    assert states()["Ethereum payouts"] == State.DELAYED


def test_a_database_that_is_away_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    def away(*_: object) -> Any:
        raise DatabaseError

    with monkeypatch.context() as broken:
        broken.setattr(connection, "cursor", away)
        assert "Outage" in page()


def test_however_many_look_it_is_asked_for_once() -> None:
    page()
    with CaptureQueriesContext(connection) as asked:
        answers = [Client().get("/status") for _ in range(20)]
    assert len(asked) == 0 and {answer.status_code for answer in answers} == {200}
    assert answers[0]["Cache-Control"] == "public, max-age=10"
    assert answers[0]["X-Robots-Tag"] == "noindex"
    assert "Set-Cookie" not in answers[0]
