"""A small phone shows at once what has happened: a failed transaction, a part, the code that was
asked for; and times are those of the customer's own zone."""

import re

import pytest
from playwright.sync_api import Page, expect

from tests import make
from tests.browser.conftest import OpenPage, barriers, overflow, shoot
from tests.browser.test_checkout import order, refresh, shop
from tests.browser.test_invoice import bill, path_of, started
from tests.cast import Shop

__all__ = ["shop"]
SMALL_PHONE = {"width": 390, "height": 664}


def end_of_view(page: Page) -> float:
    """Where the bar with the wallet's button begins, which lies on what is below."""
    bar = page.locator(".cta").bounding_box()
    assert bar is not None
    return bar["y"]


def in_view(page: Page, selector: str) -> bool:
    box = page.locator(selector).first.bounding_box()
    return box is not None and box["y"] >= 0 and box["y"] + box["height"] <= end_of_view(page)


@pytest.mark.parametrize("dark", [False, True])
def test_a_failed_transaction_is_the_first_thing_below_the_amount(
    dark: bool, shop: Shop, open_page: OpenPage
) -> None:
    made = order(shop)
    page = open_page(f"/pay/{made['reference']}", dark=dark, **SMALL_PHONE)
    expect(page.locator(".banner.bad")).to_have_count(0)
    make.simulated(shop.test, made["id"], "failed")
    refresh(page)
    expect(page.locator(".panel > .banner.bad")).to_contain_text("This transaction failed")
    assert in_view(page, ".panel > .banner.bad")
    first = page.locator(".panel > :not(.visually-hidden)").first
    expect(first).to_have_class("banner bad")
    expect(page.locator("#announcement")).to_contain_text("This transaction failed.")
    expect(page.get_by_text("This transaction failed, so nothing is paid with it")).to_have_count(1)
    assert barriers(page) == [] and overflow(page) <= 0
    shoot(page, f"checkout-failed-{'dark' if dark else 'light'}")
    make.simulated(shop.test, made["id"], "underpaid")
    refresh(page)
    expect(page.get_by_role("heading", name="Partially paid")).to_be_visible()
    expect(page.locator(".panel > .banner.bad")).to_have_count(0)
    assert in_view(page, "#received-label")
    shoot(page, f"checkout-underpaid-{'dark' if dark else 'light'}")


def test_the_code_is_in_view_as_soon_as_it_is_asked_for(
    shop: Shop, open_page: OpenPage, server: str
) -> None:
    page = open_page("/healthz", **SMALL_PHONE)
    for mode in ("test", "live"):
        page.goto(f"{server}/pay/{order(shop, mode)['reference']}")
        page.get_by_text("Show QR code").click()
        code = page.locator(".scan .qr")
        expect(code).to_be_visible()
        expect(code).to_be_in_viewport(ratio=1)
        box = code.bounding_box()
        banner = page.locator(".test-banner")
        top = 0.0
        if mode == "test" and (covered := banner.bounding_box()) is not None:
            top = covered["y"] + covered["height"]
        assert box and box["y"] >= top, (mode, box, top)
        assert box["y"] + box["height"] <= end_of_view(page), mode


@pytest.mark.parametrize(
    ("zone", "locale", "shown"),
    [
        ("Europe/Berlin", "de-DE", r"\d\d:\d\d\s(MEZ|MESZ|GMT\+\d)"),
        ("Asia/Tokyo", "ja-JP", r"\d\d:\d\d\sJST"),
        ("America/New_York", "en-US", r"\d\d:\d\d\s(GMT-[45]|E[SD]T)"),
    ],
)
def test_customers_read_times_of_their_own_zone(
    zone: str, locale: str, shown: str, shop: Shop, open_page: OpenPage
) -> None:
    made = order(shop)
    make.simulated(shop.test, made["id"], "exact")
    path = f"/pay/{made['reference']}"
    page = open_page(path, timezone_id=zone, locale=locale, **SMALL_PHONE)
    time = page.locator("dd time")
    expect(time).to_have_text(re.compile(shown))
    refresh_again(page)
    expect(time).to_have_text(re.compile(shown))
    assert "UTC" in str(time.get_attribute("title"))
    plain = open_page(path, script=False, timezone_id=zone, locale=locale, **SMALL_PHONE)
    expect(plain.locator("dd time")).to_have_text(re.compile(r"\d\d:\d\d\sUTC"))


def refresh_again(page: Page) -> None:
    """A page that is done looks no more; somebody who comes back to it loads it."""
    page.reload()


def test_an_invoice_says_in_the_customers_zone_when_it_was_paid(
    shop: Shop, open_page: OpenPage
) -> None:
    made = bill(shop)
    make.simulated(shop.test, started(made))
    page = open_page(path_of(made), timezone_id="Asia/Tokyo", **SMALL_PHONE)
    expect(page.locator("time", has_text="GMT+9").first).to_be_visible()
    due = page.locator("time", has_text=re.compile(r"^\d+ \w+ \d+$")).first
    expect(due).to_be_visible()
