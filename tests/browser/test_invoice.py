"""A customer and their invoices, in a real browser: each state on a desk and a phone, paying in the
page, and their own page."""

from datetime import timedelta
from typing import Any

import pytest
import time_machine
from playwright.sync_api import Page, expect

from apps.billing.models import Customer
from apps.billing.services.portal import LINK_LIFETIME, portal_url
from apps.core import clock
from tests import make
from tests.billing import records as r
from tests.browser.conftest import OpenPage, barriers, overflow, put_on, shoot, turn_to
from tests.browser.looks import seen
from tests.cast import Cast, Shop

ADDRESS = {"line1": "Ringstrasse 1", "postal_code": "10115", "city": "Berlin", "country": "DE"}
LOOKS: dict[str, dict[str, Any]] = {
    "desk": {},
    "phone": {"width": 390, "height": 844},
    "dark": {"dark": True},
}


@pytest.fixture
def shop(world: Cast) -> Shop:
    world.bakery.store.support_email = "hello@bakery.example"
    world.bakery.store.save()
    return world.bakery


def bill(shop: Shop, **fields: Any) -> dict[str, Any]:
    owner = r.customer(shop.test, name="Ann Baker", address=ADDRESS)["id"]
    lines = [
        r.line(21900, 2, "Rye flour, 10 kg"),
        r.line(48000, 1, "Baking lesson of a whole day with a name that is rather long"),
    ]
    more = {
        "tax_rate_bps": 1950,
        "discount_type": "percent",
        "discount_value": 10,
        "notes": "Ring twice.",
        "footer": "Thank you.",
    }
    return r.opened(shop.test, customer_id=owner, line_items=lines, **{**more, **fields})


def path_of(made: dict[str, Any]) -> str:
    return f"/invoice/{made['public_token']}"


def started(made: dict[str, Any]) -> str:
    """The id of its payable intent."""
    return str(r.start_payment(made["public_token"]).json()["payment"]["payment_intent_id"])


def part_paid(shop: Shop, made: dict[str, Any]) -> None:
    shop.store.accept_underpayments = True
    shop.store.save()
    make.simulated(shop.test, started(made), None, settlement_amount="400.00")
    make.advance(shop.test, 3601)


STATES = {
    # First: it moves the clock, and with it the end of an intent.
    "part-paid": (part_paid, "Pay the remaining amount"),
    "to-pay": (lambda shop, made: None, "Pay this invoice"),
    "paying": (lambda shop, made: started(made), "Pay with crypto"),
    "paid": (lambda shop, made: make.simulated(shop.test, started(made)), "Paid"),
    "void": (lambda shop, made: r.act(shop.test, made["id"], "void"), "This invoice was canceled"),
}


def test_every_state_is_readable_by_everybody(shop: Shop, open_page: OpenPage) -> None:
    bills = {}
    for state, (prepare, _) in STATES.items():
        bills[state] = bill(shop, due_at="2020-01-01T00:00:00Z" if state == "part-paid" else None)
        prepare(shop, bills[state])
    page = open_page(path_of(bills["paying"]))
    for name, look in seen(LOOKS).items():
        put_on(page, **look)
        for state, (_, heading) in STATES.items():
            turn_to(page, path_of(bills[state]))
            expect(page.get_by_role("heading", level=2, name=heading)).to_be_visible()
            shoot(page, f"invoice-{state}-{name}")
            assert barriers(page) == [], (state, name)
            assert overflow(page) <= 0, (state, name)


def press(page: Page, name: str) -> None:
    page.get_by_role("button", name=name, exact=True).click()


def test_a_customer_pays_in_the_page_and_it_becomes_the_receipt_without_a_reload(
    shop: Shop, open_page: OpenPage
) -> None:
    made = bill(shop)
    page = open_page(path_of(made))
    press(page, "Pay €987.31")
    expect(page.get_by_role("heading", name="Pay with crypto")).to_be_visible()
    page.evaluate("window.same = true")
    payment = started(made)
    make.simulated(shop.test, payment, "unconfirmed", reference="r", confirmations=1)
    expect(page.get_by_role("heading", name="Confirming your payment")).to_be_visible()
    make.simulated(shop.test, payment, "exact", reference="r")
    expect(page.get_by_role("heading", name="Paid")).to_be_visible()
    expect(page.locator("#announcement")).to_have_text("This invoice is paid")
    assert page.evaluate("window.same")
    page.emulate_media(media="print")
    for left_out in (".checkout-foot", "[data-print]", "text=Receipt as PDF"):
        expect(page.locator(left_out).first).to_be_hidden()
    expect(page.locator(".test-banner")).to_be_visible()  # paper says too that no real money moved
    expect(page.get_by_text("Payments received")).to_be_visible()
    shoot(page, "invoice-paid-print")
    page.emulate_media(media="screen")
    receipt = page.get_by_role("link", name="Receipt as PDF")
    expect(receipt).to_have_attribute("href", f"{path_of(made)}/receipt.pdf")


@pytest.mark.whole  # in the suite without a browser in hosted/test_invoice.py
def test_the_page_works_without_scripts(shop: Shop, open_page: OpenPage) -> None:
    page = open_page(path_of(bill(shop)), script=False, width=390, height=844)
    press(page, "Pay €987.31")
    press(page, "Exact amount")
    expect(page.get_by_role("heading", name="Paid")).to_be_visible()
    press(page, "Email me a link to all my invoices")
    expect(page.get_by_text("Check your email")).to_be_visible()


def portal_path(customer: Customer) -> str:
    return "/portal/" + portal_url(customer).rpartition("/")[2]


def test_the_customers_own_page_is_readable_by_everybody_and_ends_a_subscription(
    shop: Shop, open_page: OpenPage
) -> None:
    made = r.subscribe(shop.test, quantity=2)
    r.subscribe(shop.test, customer_id=made["customer_id"], trial_period_days=5)
    bill(shop)
    r.opened(shop.test, customer_id=made["customer_id"], due_at="2020-01-01T00:00:00Z")
    customer = Customer.objects.select_related("store").get(pk=made["customer_id"])
    page = open_page(portal_path(customer))
    for name, look in seen(LOOKS).items():
        put_on(page, **look)
        expect(page.get_by_role("heading", name="Subscriptions")).to_be_visible()
        shoot(page, f"portal-{name}")
        assert barriers(page) == [], name
        assert overflow(page) <= 0, name
    page.get_by_role("link", name="Cancel Bread club").last.click()
    shoot(page, "portal-cancel")
    assert barriers(page) == []
    press(page, "Cancel subscription")
    expect(page.get_by_text("Ends on")).to_be_visible()
    press(page, "Keep subscription Bread club")
    expect(page.get_by_text("Ends on")).to_have_count(0)
    page.get_by_role("link", name="Pay INV").last.click()
    expect(page.get_by_role("heading", name="Pay this invoice")).to_be_visible()
    with time_machine.travel(clock.real_now() - LINK_LIFETIME - timedelta(days=1), tick=True):
        expired = portal_path(customer)
    page.goto(page.url.partition("/invoice/")[0] + expired)
    expect(page.get_by_role("button", name="Send me a new link")).to_be_visible()
    shoot(page, "portal-expired")
    assert barriers(page) == []
