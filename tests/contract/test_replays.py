"""A key that was used: whatever is sent with it again is answered with what its first call made,
and nothing more is done."""

from collections.abc import Callable
from typing import Any

import pytest

from apps.agents.models import Settlement
from apps.assets.models import Asset
from apps.payments.models import Payment, Refund
from apps.payouts.models import Payout
from apps.stores.settings import write_settings
from apps.swaps.models import Swap
from tests import make
from tests.cast import Api, Cast, Shop
from tests.payments.test_publishable import signature

pytestmark = pytest.mark.django_db
TO = "0x52908400098527886E0F7030069857D2E4169EE7"
KEY = "one"
MADE = (Payment, Refund, Payout, Swap, Settlement)
INTENT = {"amount": "5.00", "currency": "EUR"}
# What a caller may have changed in its body since its first call, beside what is right.
CHANGES: list[Any] = [
    {"colour": "red"},
    {"amount": "x", "amount_atomic": "x", "sell_amount_atomic": "x"},
    {"amount": 5, "amount_atomic": 5.5, "sell_amount_atomic": None},
    {"amount": "99999", "amount_atomic": "9" * 40, "sell_amount_atomic": "9" * 40},
    {"asset_id": "NOPE", "source_asset_id": "NOPE", "currency": "ABC"},
    {"asset_id": ["SETH"], "buy_asset_id": {}, "currency": 7},
    {"destination_address": "nowhere", "mandate_ref": None},
    {"amount": "1\0", "amount_atomic": "1\0", "sell_amount_atomic": "1\0"},
]
Ask = Callable[..., Any]


@pytest.fixture
def shop(cast: Cast) -> Shop:
    """With coins, an agent that may pay, and dollars that test mode swaps for."""
    bakery = cast.bakery
    write_settings(bakery.store, {"authorization_provider": "policy"})
    Asset.objects.filter(pk="USDC_SETH").update(contract_address=f"0x{1:040x}", is_active=True)
    make.funded(bakery.test)
    return bakery


def agent(shop: Shop) -> Api:
    return Api(shop.secrets["test_agent"])


def paid_to_agent(shop: Shop) -> str:
    made = agent(shop).post("/agentic/payments", {"payment_intent": INTENT}).json()
    make.simulated(shop.test, made["id"])
    return str(made["id"])


def of_payments(shop: Shop) -> tuple[Ask, Any]:
    def ask(body: Any, key: str = KEY) -> Any:
        return shop.test.post("/payments", {"payment_intent": body}, key=key)

    return ask, INTENT


def of_agents_payments(shop: Shop) -> tuple[Ask, Any]:
    def ask(body: Any, key: str = KEY) -> Any:
        return agent(shop).post("/agentic/payments", {"payment_intent": body}, key=key)

    return ask, INTENT


def of_refunds(shop: Shop) -> tuple[Ask, Any]:
    path = f"/payments/{make.paid(shop.test)['id']}/refunds"
    return lambda body, key=KEY: shop.test.post(path, {"refund": body}, key=key), {
        "amount": "0.001"
    }


def of_bare_refunds(shop: Shop) -> tuple[Ask, Any]:
    path = f"/payments/{make.paid(shop.test)['id']}/refunds"
    return lambda body, key=KEY: shop.test.post(path, body, key=key), {}


def of_agents_refunds(shop: Shop) -> tuple[Ask, Any]:
    path = f"/agentic/payments/{paid_to_agent(shop)}/refunds"
    return lambda body, key=KEY: agent(shop).post(path, body, key=key), {"amount": "0.001"}


def of_payouts(shop: Shop) -> tuple[Ask, Any]:
    body = {"asset_id": "SETH", "amount_atomic": str(10**16), "destination_address": TO}
    return lambda body, key=KEY: shop.test.post("/payouts", body, key=key), body


def of_agents_payouts(shop: Shop) -> tuple[Ask, Any]:
    body = {"asset_id": "SETH", "amount_atomic": str(10**16), "destination_address": TO}
    return lambda body, key=KEY: agent(shop).post("/agentic/payouts", body, key=key), body


def of_swaps(shop: Shop) -> tuple[Ask, Any]:
    body = {
        "source_asset_id": "SETH",
        "buy_asset_id": "USDC_SETH",
        "sell_amount_atomic": str(10**16),
    }
    return lambda body, key=KEY: shop.test.post("/balance_swaps", body, key=key), body


def of_settlements(shop: Shop) -> tuple[Ask, Any]:
    mandate = {"asset_id": "SETH", "total_cap_atomic": "10", "mandate_ref": "books"}
    assert agent(shop).post("/agentic/mandates", mandate).status_code == 201
    body = {"asset_id": "SETH", "mandate_ref": "books", "amount_atomic": "1"}
    return lambda body, key=KEY: agent(shop).post("/agentic/x402/settlements", body, key=key), body


OPERATIONS = (
    *(of_payments, of_agents_payments, of_refunds, of_bare_refunds, of_agents_refunds),
    *(of_payouts, of_agents_payouts, of_swaps, of_settlements),
)


@pytest.mark.parametrize("operation", OPERATIONS)
def test_whatever_the_body_is_now_the_first_call_answers(
    shop: Shop, operation: Callable[[Shop], tuple[Ask, Any]]
) -> None:
    ask, body = operation(shop)
    first = ask(body)
    assert first.status_code == 201, first.content
    made = [rows.objects.count() for rows in MADE]
    for change in (*CHANGES, {}):
        again = ask({**body, **change} if change else {})
        assert again.status_code == 201, (change, again.content)
        assert again.json() == first.json(), change
        assert again.headers["Idempotent-Replayed"] == "true", change
        assert "Ignored-Fields" not in again.headers or operation in OPERATIONS[:2]
    assert [rows.objects.count() for rows in MADE] == made


@pytest.mark.parametrize("operation", OPERATIONS[2:])
def test_a_new_key_is_refused_what_a_known_one_is_forgiven(
    shop: Shop, operation: Callable[[Shop], tuple[Ask, Any]]
) -> None:
    ask, body = operation(shop)
    made = [rows.objects.count() for rows in MADE]
    answer = ask({**body, "colour": "red"})
    assert answer.status_code == 422 and "Unknown field: colour" in answer.content.decode()
    assert [rows.objects.count() for rows in MADE] == made
    assert ask(body).status_code == 201


def test_a_replay_is_no_way_around_what_a_caller_may(shop: Shop, cast: Cast) -> None:
    ask, body = of_refunds(shop)
    assert ask(body).status_code == 201
    id = Refund.objects.get().payment_id
    payout, paid = of_payouts(shop)
    assert payout(paid).status_code == 201
    narrow = shop.with_scopes("payments:read", "payouts:read")
    stranger = cast.strangers.test
    for asked in (body, {"colour": "red"}):
        refund = {"refund": asked}
        assert narrow.post(f"/payments/{id}/refunds", refund, key=KEY).status_code == 403
        assert stranger.post(f"/payments/{id}/refunds", refund, key=KEY).status_code == 404
        assert narrow.post("/payouts", asked, key=KEY).status_code == 403
        assert stranger.post("/payouts", asked, key=KEY).status_code in (404, 422)


def test_a_page_that_may_not_name_an_amount_reads_no_payment_of_a_known_key(shop: Shop) -> None:
    """A publishable key is in a page that everybody reads, and so are the names of orders."""
    page = Api(shop.secrets["live_publishable"])
    order = {"amount": "5.00", "currency": "EUR", "order_id": "A-1"}
    signed = signature(shop.secrets["live"], *order.values())
    first = page.post(
        "/payments", {"payment_intent": {**order, "amount_signature": signed}}, key=KEY
    )
    assert first.status_code == 201, first.content
    for change in ({}, {"amount": "x"}, {"currency": "ABC"}, {"amount_signature": "0" * 64}):
        answer = page.post("/payments", {"payment_intent": {**order, **change}}, key=KEY)
        assert answer.status_code in (403, 422), change
        assert first.json()["id"] not in answer.content.decode()
