"""Card payments through the public paths: availability, methods, sessions, what holds an intent open, and refunds."""

from typing import Any

import pytest

from apps.console import audit
from apps.onramp.models import FundingSession
from apps.onramp.services.card_page import finish
from apps.stores.services import change_store
from tests import make
from tests.cast import Api, Shop

pytestmark = pytest.mark.django_db
PUBLIC = Api()
TO = "0x1111111111111111111111111111111111111111"


@pytest.fixture
def shop(bakery: Shop) -> Shop:
    change_store(bakery.store, country="DE", card_funding_live=True, card_funding_test=True, accept_overpayments=False)
    return bakery


def methods(made: dict[str, Any], query: str = "", **headers: str) -> Any:
    return PUBLIC.get(f"/checkout/{made['reference']}/onramp/payment_methods{query}", **headers)


def ask(made: dict[str, Any], **fields: Any) -> Any:
    return PUBLIC.post(f"/checkout/{made['reference']}/onramp_sessions", fields)


def open_one(made: dict[str, Any], **fields: Any) -> dict[str, Any]:
    answer = ask(made, **{"payment_method_id": "sandbox.card", **fields})
    assert answer.status_code == 201, answer.content
    body: dict[str, Any] = answer.json()
    return body


def press(session: dict[str, Any], outcome: str) -> None:
    finish(FundingSession.objects.select_related("payment__store").get(pk=session["id"]), outcome)


def test_a_session_is_opened_and_shown(shop: Shop) -> None:
    made = make.payment(shop.test, amount="50.00")
    body = methods(made).json()
    assert [one["id"] for one in body["payment_methods"]] == ["sandbox.sepa", "sandbox.card"]
    session = open_one(made)
    detail = make.detail(shop.test, made["id"])
    assert detail["onramp_session"]["id"] == session["id"] and detail["onramp_unavailable"] is None
    assert open_one(made)["id"] == session["id"]
    assert audit.findings() == []
