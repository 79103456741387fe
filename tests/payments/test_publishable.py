"""A publishable key's payments: everybody is notified, and live stores decide whether it may name
an amount by itself."""

import hashlib
import hmac
from typing import Any

import pytest

from apps.access.access import Access
from apps.access.services import create_api_key, revoke_api_key
from apps.console.management.commands.create_store import open_store
from apps.core import clock
from apps.payments.models import Payment
from apps.payments.requests import PaymentRequest
from apps.payments.services.create import create_payment
from apps.payments.services.renew import renew_payment
from apps.stores.models import Role
from apps.stores.services import change_store
from apps.webhooks.models import Event
from tests import make
from tests.cast import Api, Cast, Shop, signed_in
from tests.dashboard.browse import Browser

LAPTOP = {"amount": "1499.00", "currency": "EUR", "order_id": "A-1001"}


def signature(secret: str, amount: str, currency: str, order_id: str) -> str:
    """As the guide says, in the words of a merchant's server."""
    message = f"{amount}\n{currency}\n{order_id}".encode()
    return hmac.new(hashlib.sha256(secret.encode()).digest(), message, hashlib.sha256).hexdigest()


def create(api: Api, **fields: Any) -> Any:
    return api.post("/payments", {"payment_intent": {**LAPTOP, **fields}})


def refusal(answer: Any) -> tuple[int, str]:
    return answer.status_code, answer.json()["error"]["code"]


@pytest.fixture
def page(bakery: Shop) -> Api:
    return Api(bakery.secrets["live_publishable"])


@pytest.fixture
def test_page(bakery: Shop) -> Api:
    return Api(bakery.secrets["test_publishable"])


def test_what_a_page_created_says_so_everywhere(bakery: Shop, test_page: Api) -> None:
    made = create(test_page, amount="0.01").json()
    assert made["created_with"] == "publishable_key"
    make.simulated(bakery.test, made["id"], "exact")
    read = bakery.test.get(f"/payments/{made['id']}").json()
    (listed,) = bakery.test.get("/payments").json()["data"]
    assert (read["status"], read["created_with"]) == ("completed", "publishable_key")
    assert listed["created_with"] == "publishable_key"
    events = Event.objects.filter(store=bakery.store, type__startswith="payment_intent.")
    objects = [event.object for event in events]
    assert len(objects) >= 2
    assert {body["created_with"] for body in objects} == {"publishable_key"}


def test_each_way_of_creating_a_payment_has_its_word(bakery: Shop) -> None:
    order = PaymentRequest(amount="10.00", currency="EUR")
    accesses = {
        "secret_key": bakery.access(),
        "dashboard": signed_in(bakery.owner, bakery.store, role=Role.OWNER),
        "hosted_page": Access.for_public(bakery.store, "test"),
    }
    for word, access in accesses.items():
        assert create_payment(access, order)[0].created_with == word
    agent = Api(bakery.secrets["test_agent"]).post(
        "/agentic/payments", {"payment_intent": {"amount": "10.00", "currency": "EUR"}}, key="a"
    )
    assert Payment.objects.get(pk=agent.json()["id"]).created_with == "agent"


def test_a_new_quote_says_what_the_first_payment_was_made_with(
    bakery: Shop, test_page: Api
) -> None:
    made = create(test_page, amount="0.01").json()
    make.advance(bakery.test, 3700)
    bakery.store.refresh_from_db()
    expired = Payment.objects.select_related("store").get(pk=made["id"])
    assert renew_payment(expired).created_with == "publishable_key"


def test_a_new_store_takes_no_amount_from_a_page_in_live_mode(
    bakery: Shop, page: Api, test_page: Api
) -> None:
    assert refusal(create(page)) == (403, "amount_signature_required")
    assert create(test_page).status_code == 201
    assert create(bakery.live).status_code == 201
    change_store(bakery.store, publishable_key_amounts=True)
    assert create(page).json()["created_with"] == "publishable_key"


def test_a_signed_amount_is_taken_from_a_page(bakery: Shop, page: Api) -> None:
    sign = signature(bakery.secrets["live"], "1499.00", "EUR", "A-1001")
    made = create(page, amount_signature=sign)
    assert made.status_code == 201
    assert made.json()["created_with"] == "signed_amount"
    assert "amount_signature" not in made.json()


@pytest.mark.parametrize(
    "change",
    [
        {"amount": "0.01"},
        {"amount": "1499"},
        {"currency": "JPY"},
        {"order_id": "A-1002"},
        {"order_id": "EUR\nA-1001"},
        {"customer_pays_fee": False},
    ],
    ids=str,
)
def test_nothing_of_a_signed_amount_can_be_changed(
    bakery: Shop, page: Api, test_page: Api, change: dict[str, Any]
) -> None:
    for mode, api in (("live", page), ("test", test_page)):
        sign = signature(bakery.secrets[mode], "1499.00", "EUR", "A-1001")
        answer = create(api, **change, amount_signature=sign)
        assert refusal(answer) == (422, "amount_signature_invalid")


def test_an_order_is_part_of_what_is_signed(bakery: Shop, page: Api) -> None:
    """Otherwise the cheapest signature of a shop would pay for everything."""
    sign = signature(bakery.secrets["live"], "1499.00", "EUR", "")
    answer = create(page, order_id=None, amount_signature=sign)
    assert refusal(answer) == (422, "amount_signature_invalid")


def test_only_a_working_secret_key_of_the_store_and_mode_signs(
    bakery: Shop, page: Api, cast: Cast
) -> None:
    reader = create_api_key(bakery.store, "live", scope_names=["payments:read"])[1]
    key, revoked = create_api_key(bakery.store, "live")
    revoke_api_key(key, clock.real_now())
    others = cast.strangers.secrets["live"]
    signers = [bakery.secrets["test"], bakery.secrets["live_publishable"], reader, revoked, others]
    for secret in signers:
        sign = signature(secret, "1499.00", "EUR", "A-1001")
        assert refusal(create(page, amount_signature=sign)) == (422, "amount_signature_invalid")
    for text in ("", "0" * 64, "é" * 64, "x" * 65):
        assert create(page, amount_signature=text).status_code in (403, 422)


def test_an_operators_store_takes_any_amount_and_its_owner_can_end_that(bakery: Shop) -> None:
    key = open_store(bakery.store, bakery.owner).keys["live"]["publishable"]
    assert create(Api(key)).status_code == 201
    browser = Browser(bakery.owner)
    assert 'name="publishable_key_amounts"' in browser.get("settings").content.decode()
    browser.post("settings", settlement_currency="EUR", support_email="")
    assert refusal(create(Api(key))) == (403, "amount_signature_required")
    browser.post(
        "settings", settlement_currency="EUR", support_email="", publishable_key_amounts="on"
    )
    assert create(Api(key)).status_code == 201


def test_its_page_says_that_a_web_page_set_the_amount(bakery: Shop, test_page: Api) -> None:
    made = create(test_page).json()
    sign = signature(bakery.secrets["test"], "1499.00", "EUR", "A-1001")
    signed = create(test_page, amount_signature=sign).json()
    browser = Browser(bakery.owner)
    pages = [
        browser.get(f"payments/{body['id']}").content.decode()
        for body in (made, signed, make.payment(bakery.test))
    ]
    assert [page.count("A web page set the amount") for page in pages] == [1, 0, 0]
    assert "with a signed amount" in pages[1] and "Secret key" in pages[2]
