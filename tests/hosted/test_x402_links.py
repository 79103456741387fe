"""The address at which an agent buys at a payment link: a sealed price, then one payment for each
signature, never more than the stock. Paid with the protocol's own client, unmodified."""

from typing import Any

import pytest

from apps.links.models import LinkPayment, PaymentLink
from apps.payments.models import Payment
from tests import auditing, make
from tests.agents.paying import Payer
from tests.agents.test_x402_offers import counts
from tests.cast import Shop
from tests.hosted.test_x402 import get, signature, told

pytestmark = pytest.mark.django_db


def linked(shop: Shop, **fields: Any) -> dict[str, Any]:
    sent = {"title": "Roasting course", "currency": "EUR", "amount_cents": 1250, **fields}
    answer = shop.test.post("/payment_links", {"payment_link": sent})
    assert answer.status_code == 201, answer.content
    return dict(answer.json())


def with_query(link: dict[str, Any], query: str) -> dict[str, Any]:
    return {**link, "x402_url": f"{link['x402_url']}?{query}"}


def test_an_agent_buys_at_a_link_as_often_as_it_signs(bakery: Shop) -> None:
    link = linked(bakery, success_url="https://shop.example/thanks")
    payer = Payer()
    headers = [signature(link, payer) for _ in range(2)]
    paid = [get(link, **header) for header in headers]
    assert [answer.status_code for answer in paid] == [200, 200]
    assert all(told(answer)["success"] for answer in paid)
    assert paid[0].json()["success_url"] == "https://shop.example/thanks"
    assert len({answer.json()["payment_intent_id"] for answer in paid}) == 2
    detail = make.detail(bakery.test, paid[0].json()["payment_intent_id"])
    assert (detail["status"], detail["title"]) == ("completed", "Roasting course")
    assert detail["metadata"] == {"payment_link_id": link["id"]}
    after = bakery.test.get(f"/payment_links/{link['id']}").json()
    assert (after["completed_count"], after["completed_cents"]) == (2, 2500)
    again = get(link, **headers[0])
    assert again.status_code == 200 and again.json() == paid[0].json()
    assert LinkPayment.objects.count() == 2
    assert auditing.breaches() == []


def test_a_look_at_a_link_leaves_nothing_behind(bakery: Shop) -> None:
    link = linked(bakery, stock=1)
    before = counts()
    for _ in range(20):
        assert get(link).status_code == 402
    assert counts() == before and not LinkPayment.objects.exists()


def test_the_last_piece_is_sold_once(bakery: Shop) -> None:
    link = linked(bakery, stock=1)
    first, second = signature(link, Payer()), signature(link, Payer())
    assert get(link, **first).status_code == 200
    late = get(link, **second)
    assert late.status_code == 402 and "sold out" in late.json()["error"]
    assert not told(late)["success"]
    assert (Payment.objects.count(), LinkPayment.objects.count()) == (1, 1)
    assert get(link).status_code == 410


@pytest.mark.parametrize("way", ["pause", "archive"])
def test_a_link_that_sells_nothing_takes_no_signature(bakery: Shop, way: str) -> None:
    link = linked(bakery)
    header = signature(link, Payer())
    assert bakery.test.post(f"/payment_links/{link['id']}/{way}").status_code == 200
    assert get(link).status_code == 410
    assert get(link, **header).status_code == 402
    assert not Payment.objects.exists()


def test_the_price_of_one_link_buys_nothing_at_another(bakery: Shop) -> None:
    cheap, dear = linked(bakery, amount_cents=100), linked(bakery, amount_cents=9900)
    stolen = get(dear, **signature(cheap, Payer()))
    assert stolen.status_code == 402 and not told(stolen)["success"]
    assert not Payment.objects.exists() and not LinkPayment.objects.exists()


def test_a_chosen_amount_and_the_customer_are_in_the_query(bakery: Shop) -> None:
    link = linked(bakery, amount_cents=None, min_amount_cents=500, customer_email="required")
    for query, word in (("", "amount"), ("amount=4", "amount"), ("amount=7", "email")):
        answer = get(with_query(link, query))
        assert answer.status_code == 422 and word in answer.json()["error"], query
    whole = with_query(link, "amount=7.50&email=ann@example.com")
    paid = get(whole, **signature(whole, Payer()))
    assert paid.status_code == 200
    (row,) = LinkPayment.objects.select_related("payment")
    assert row.customer_email == "ann@example.com"
    assert row.payment.settlement_amount_cents == 750


def test_an_unknown_link_is_missing(bakery: Shop) -> None:
    link = linked(bakery)
    token = PaymentLink.objects.get().token
    unknown = {"x402_url": link["x402_url"].replace(token, token[::-1])}
    assert get(unknown).status_code == 404
