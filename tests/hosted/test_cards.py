"""Card payments on the checkout by plain forms, as a browser without scripts sends them."""

import re
from html import unescape
from typing import Any

import pytest
from django.test import Client

from apps.stores.services import change_store
from tests import make
from tests.cast import Shop

pytestmark = pytest.mark.django_db


@pytest.fixture
def shop(bakery: Shop) -> Shop:
    change_store(bakery.store, country="DE", card_funding_live=True, card_funding_test=True)
    return bakery


def words(answer: Any) -> str:
    return unescape(answer.content.decode())


def test_a_card_that_was_not_charged_can_be_tried_again(shop: Shop) -> None:
    path = f"/pay/{make.payment(shop.live, amount='50.00')['reference']}"
    customer = Client()
    for outcome, told in (("failed", "The last card payment failed"), ("pending", "is open")):
        room = words(customer.get(path, {"pay": "card"}))
        assert f'<form class="card-form" method="post" action="{path}/card">' in room
        choice = re.search(r'name="choice" value="([^"]+)" checked', room)
        assert choice is not None
        sent = customer.post(f"{path}/card", {"choice": choice[1], "country": "DE"})
        leads = re.search(r'href="\S*(/sandbox/card/[^"]+)"', words(customer.get(sent["Location"])))
        assert leads is not None
        done = customer.post(leads[1], {"outcome": outcome})
        assert told in words(customer.get(done["Location"]))
    back = re.search(r'id="way-crypto" href="([^"]+)"', room)
    assert back is not None and "Pay with crypto" in words(customer.get(back[1]))


def test_somebody_from_nowhere_says_where_they_are(shop: Shop) -> None:
    change_store(shop.store, country="")
    path = f"/pay/{make.payment(shop.test, amount='50.00')['reference']}"
    customer = Client()
    asked = words(customer.get(path, {"pay": "card"}))
    assert f'<form class="place-form" method="get" action="{path}">' in asked
    assert "Where are you paying from?" in asked and 'name="choice"' not in asked
    nothing = words(customer.get(path, {"pay": "card", "country": "BR"}))
    assert "Card payments of this amount aren’t available there." in nothing
    assert "Paying from Brazil" in nothing
    assert "Faster Payments" in words(customer.get(path, {"pay": "card", "country": "GB"}))
