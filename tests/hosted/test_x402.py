"""The address at which an agent pays a payment: 402 with what may be signed, then the payment. Paid
with the protocol's own client, unmodified."""

import base64
import json
from typing import Any

import pytest
from django.test import Client
from x402.http import x402HTTPClientSync

from apps.assets.models import AcceptedAsset
from apps.payments.models import Payment
from tests import auditing, make
from tests.agents.paying import Payer
from tests.agents.test_x402_offers import counts
from tests.billing import records
from tests.cast import Shop

pytestmark = pytest.mark.django_db


@pytest.fixture
def shop(bakery: Shop) -> Shop:
    return bakery


def created(shop: Shop, **fields: Any) -> dict[str, Any]:
    order = {"amount": "5.00", "currency": "EUR", **fields}
    answer = shop.test.post("/payments", {"payment_intent": order})
    assert answer.status_code == 201, answer.content
    return dict(answer.json())


def get(payment: dict[str, Any], **headers: str) -> Any:
    path = payment["x402_url"].partition("://")[2]
    return Client().get(path[path.index("/") :], headers=headers)


def signature(payment: dict[str, Any], payer: Payer) -> dict[str, str]:
    """The header that the client makes of the answer 402."""
    asked = get(payment)
    assert asked.status_code == 402
    client = x402HTTPClientSync(payer.client)
    required = client.get_payment_required_response(asked.headers.get, asked.json())
    return dict(client.encode_payment_signature_header(client.create_payment_payload(required)))


def told(answer: Any) -> dict[str, Any]:
    return dict(json.loads(base64.b64decode(answer.headers["PAYMENT-RESPONSE"])))


def test_an_agent_pays_a_payment_by_its_address(shop: Shop) -> None:
    payment = created(shop, success_url="https://shop.example/thanks")
    payer = Payer()
    paid = get(payment, **signature(payment, payer))
    assert paid.status_code == 200 and told(paid)["success"]
    assert paid.json() == {
        "payment_intent_id": payment["id"],
        "reference": payment["reference"],
        "status": "completed",
        "success_url": "https://shop.example/thanks",
    }
    detail = make.detail(shop.test, payment["id"])
    assert (detail["status"], detail["state_reason"]) == ("completed", "completed_exact")
    assert detail["transaction"]["from_address"].lower() == payer.address
    assert get(payment).json() == paid.json()
    assert auditing.breaches() == []


def test_a_look_leaves_nothing_behind(shop: Shop) -> None:
    payment = created(shop)
    before = counts()
    for _ in range(20):
        assert get(payment).status_code == 402
    assert counts() == before


def test_a_signature_is_for_its_own_payment(shop: Shop) -> None:
    first, second = created(shop), created(shop)
    stolen = get(second, **signature(first, Payer()))
    assert stolen.status_code == 402 and "another payment" in stolen.json()["error"]
    assert set(Payment.objects.values_list("status", flat=True)) == {"pending"}


@pytest.mark.parametrize("header", ["", "?", "bnVsbA==", "W10=", "e30=", "W" * 30_000])
def test_what_can_not_be_read_is_asked_again(shop: Shop, header: str) -> None:
    asked = get(created(shop), **{"PAYMENT-SIGNATURE": header})
    assert asked.status_code == 402 and asked.json()["accepts"]


def test_a_client_of_version_1_hears_what_to_do(shop: Shop) -> None:
    asked = get(created(shop), **{"X-PAYMENT": "e30="})
    assert asked.status_code == 402
    assert "@x402/fetch" in asked.json()["error"]


def test_what_has_ended_or_was_paid_by_other_means_is_not_asked_for(shop: Shop) -> None:
    ended = created(shop)
    make.advance(shop.test, 25 * 3600)
    assert get(ended).status_code == 410
    begun = created(shop)
    header = signature(begun, Payer())
    make.simulated(shop.test, begun["id"], scenario="underpaid")
    assert get(begun).status_code in (200, 409)
    refused = get(begun, **header)
    assert "PAYMENT-RESPONSE" in refused.headers and not told(refused)["success"]


def test_coins_that_nobody_can_sign_are_paid_on_the_page(shop: Shop) -> None:
    AcceptedAsset.objects.filter(store=shop.store).exclude(asset="ETH").delete()
    payment = shop.live.post(
        "/payments", {"payment_intent": {"amount": "5.00", "currency": "EUR"}}
    ).json()
    answer = get(payment)
    assert answer.status_code == 409 and "/x402" in answer.json()["error"]


def test_an_agent_pays_an_invoice_by_its_address(shop: Shop) -> None:
    invoice = records.opened(shop.test)
    paid = get(invoice, **signature(invoice, Payer()))
    assert paid.status_code == 200 and told(paid)["success"]
    assert get(invoice).json() == paid.json()
    after = records.ok(shop.test.get(f"/billing/invoices/{invoice['id']}"))
    assert (after["status"], after["amount_paid_cents"]) == ("paid", after["total_cents"])
    assert auditing.breaches() == []


def test_an_invoice_has_one_payment_however_often_an_agent_looks(shop: Shop) -> None:
    invoice = records.opened(shop.test)
    asked = [get(invoice) for _ in range(3)]
    assert {answer.status_code for answer in asked} == {402}
    assert Payment.objects.count() == 1


def test_an_invoice_that_is_void_or_unknown_is_not_asked_for(shop: Shop) -> None:
    invoice = records.opened(shop.test)
    records.ok(shop.test.post(f"/billing/invoices/{invoice['id']}/void"))
    assert get(invoice).status_code == 410
    unknown = {"x402_url": "http://testserver/invoice/" + "n" * 24 + "/x402"}
    assert get(unknown).status_code == 404
    assert not Payment.objects.exists()
