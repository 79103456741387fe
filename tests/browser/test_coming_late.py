"""A customer for whom it doesn't go straight: too late, in doubt, too little; with and without a
script."""

import re
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from apps.payments.models import Renewal
from tests import make
from tests.browser.conftest import OpenPage, barriers, overflow, put_on, shoot
from tests.browser.looks import seen
from tests.browser.test_checkout import order
from tests.cast import Cast, Shop

# Without one the same forms are sent, as the tests of tests/hosted send them.
SCRIPTS = [True, pytest.param(False, marks=pytest.mark.whole)]
LOOKS: dict[str, dict[str, Any]] = {
    "phone": {"width": 390, "height": 660},
    "dark": {"dark": True},
    "desk": {},
}


@pytest.fixture
def shop(world: Cast) -> Shop:
    return world.bakery


def is_whole(page: Page, name: str) -> None:
    """Readable by everybody, and no wider than its window."""
    for look, options in seen(LOOKS).items():
        put_on(page, **options)
        shoot(page, f"{name}-{look}")
        assert barriers(page) == [] and overflow(page) <= 0, look
    put_on(page, **LOOKS["phone"])


@pytest.mark.parametrize("script", SCRIPTS)
def test_one_press_on_a_phone_gets_a_new_quote(
    shop: Shop, open_page: OpenPage, script: bool
) -> None:
    """Or the page says what is known of a transaction."""
    made = order(shop)
    make.advance(shop.test, 3601)
    page = open_page(f"/pay/{made['reference']}", **LOOKS["phone"], script=script)
    button = page.get_by_role("button", name="Get a new quote")
    expect(button).to_be_in_viewport(ratio=1)
    page.get_by_label("Transaction hash").fill("0x" + "ab" * 32)
    page.get_by_role("button", name="Find my payment").click()
    expect(page.get_by_text("We couldn’t find this transaction.")).to_be_visible()
    if script:
        is_whole(page, "checkout-expired")
    button.click()
    expect(page.get_by_text("Saturday basket")).to_be_visible()
    later = Renewal.objects.get(earlier_id=made["id"]).later
    assert page.url.endswith(f"/pay/{later.reference}")
    page.goto(page.url.replace(later.reference, made["reference"]))
    page.get_by_role("link", name="View new quote").click()
    expect(page).to_have_url(re.compile(later.reference))


@pytest.mark.parametrize("script", SCRIPTS)
def test_who_has_paid_hears_what_became_of_it_while_the_page_goes_on(
    shop: Shop, open_page: OpenPage, script: bool
) -> None:
    made = order(shop)
    make.simulated(shop.test, made["id"], "underpaid")
    tx_hash = make.detail(shop.test, made["id"])["transaction"]["tx_hash"]
    page = open_page(f"/pay/{made['reference']}", width=390, height=844, script=script)
    page.get_by_text("I already paid").click()
    page.get_by_label("Transaction hash").fill(tx_hash)
    page.get_by_role("button", name="Find my payment").click()
    expect(page.get_by_text("We have your payment.")).to_be_visible()
    if script:
        is_whole(page, "checkout-sent")
        page.get_by_label("Transaction hash").fill("0xhalf")
        page.evaluate("htmx.trigger(document.getElementById('checkout'), 'refresh')")
        page.wait_for_timeout(500)
        expect(page.get_by_text("We have your payment.")).to_be_visible()
        expect(page.get_by_label("Transaction hash")).to_have_value("0xhalf")


def test_time_running_out_is_said_once_and_without_color(shop: Shop, open_page: OpenPage) -> None:
    made = order(shop)
    make.advance(shop.test, 3600 - 240)
    page = open_page(f"/pay/{made['reference']}")
    expect(page.locator("#announcement")).to_contain_text("Less than 5 minutes left to pay.")
    expect(page.locator(".banner.wait", has_text="Less than 5 minutes left.")).to_be_visible()
    is_whole(page, "checkout-ending")


@pytest.mark.parametrize("script", SCRIPTS)
def test_a_receipt_is_mailed_from_the_page(shop: Shop, open_page: OpenPage, script: bool) -> None:
    """Its words are tested in hosted/test_receipts.py; the form is on the page that is judged with
    all stages."""
    made = make.paid(shop.test, amount="24.90", title="Saturday basket")
    page = open_page(f"/pay/{made['reference']}", **LOOKS["phone"], script=script)
    page.get_by_label("Email me a receipt").fill("ann@example.com")
    page.get_by_role("button", name="Send receipt").click()
    expect(page.get_by_text("Your receipt is on its way.")).to_be_visible()
    assert "ann@example.com" not in page.content()
    if script:
        is_whole(page, "checkout-receipt-sent")
