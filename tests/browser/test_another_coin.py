"""A coin that came to the address of another, in a real browser: the customer reads immediately
what arrived and who was notified, and one press of the merchant pays the payment with it."""

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Page, expect

from apps.assets.models import Asset
from apps.assets.services import accept_all_active
from apps.payments.models import Payment
from tests import make
from tests.browser.conftest import OpenPage, barriers, overflow, shoot
from tests.browser.test_checkout import order, refresh
from tests.browser.test_checkout_in_view import SMALL_PHONE
from tests.cast import Cast, Shop

COIN = "USDC_SETH"
TOKEN = "0x" + "01" * 20


@pytest.fixture
def shop(world: Cast) -> Iterator[Shop]:
    """A bakery that takes two coins on one network."""
    before = Asset.objects.get(pk=COIN)
    Asset.objects.filter(pk=COIN).update(contract_address=TOKEN, is_active=True)
    accept_all_active(world.bakery.store)
    yield world.bakery
    Asset.objects.filter(pk=COIN).update(
        contract_address=before.contract_address, is_active=before.is_active
    )


def below_the_amount(page: Page) -> str:
    seen = page.locator(".panel > :not(.visually-hidden)").all_inner_texts()
    return " ".join(" ".join(seen).split())


def test_another_accepted_coin_is_told_at_once_and_pays_when_the_merchant_takes_it(
    shop: Shop, world: Cast, open_page: OpenPage
) -> None:
    made = order(shop)
    page = open_page(f"/pay/{made['reference']}", **SMALL_PHONE)
    expect(page.get_by_role("heading", name="Pay with crypto")).to_be_visible()
    due = Payment.objects.get(pk=made["id"]).addresses.get(asset=COIN).required_atomic
    make.stray_transfer(made["id"], COIN, due)
    refresh(page)
    sentence = re.compile(rf"You sent [\d.]+ USDC to the ETH address\. {shop.store.name} has been")
    told = page.get_by_text(sentence)
    expect(told).to_be_in_viewport(ratio=1)
    heading, _, rest = below_the_amount(page).partition(". ")
    assert heading == "We found your payment" and sentence.match(rest)
    expect(page.get_by_text("Waiting for payment")).to_have_count(0)
    expect(page.get_by_text(re.compile("isn.t a coin", re.I))).to_have_count(0)
    assert barriers(page) == [] and overflow(page) <= 0
    shoot(page, "checkout-another-coin")

    merchant = open_page("/dashboard/attention", width=390, person=world.alice)
    expect(merchant.get_by_text("Unexpected coins arrived")).to_be_visible()
    merchant.get_by_role("button", name=re.compile(r"^Accept [\d.]+ USDC")).click()
    expect(merchant.get_by_text("Unexpected coins arrived")).to_have_count(0)
    refresh(page)
    expect(page.get_by_role("heading", name=re.compile("^Paid"))).to_be_visible()
    expect(told).to_have_count(0)
    assert make.detail(shop.test, made["id"])["status"] == "completed"
