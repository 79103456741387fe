"""Errors of a form in a real browser: the input has the focus and the sentence, at a code, a
box and a group of choices too."""

import re

import pytest
from playwright.sync_api import Page, expect

from apps.access.factors import second_factor
from apps.access.models import SecondFactor
from apps.payouts.services.destinations import add_wallet
from tests import make
from tests.browser.conftest import OpenPage, shoot
from tests.browser.test_dashboard import fine, fine_again
from tests.cast import Cast

KNOWN = "0x52908400098527886E0F7030069857D2E4169EE7"
TWIN = "0x5290000000000000000000000000000000009EE7"
LOOKS = [
    ("phone", 390, False),
    ("phone-dark", 390, True),
    ("wide", 1280, False),
    ("wide-dark", 1280, True),
]


def send(page: Page, button: str) -> None:
    """As a browser would that doesn't look at forms itself."""
    found = page.get_by_role("button", name=button, exact=True)
    found.evaluate("button => { button.form.noValidate = true; }")
    found.click()


def led_to(page: Page, name: str, sentence: str) -> None:
    """The sentence is there, and the focus is at the field that it is about."""
    expect(page.locator(f"#{name}-error")).to_contain_text(sentence)
    # A browser gives the focus with the first picture, which may come after the sentence.
    expect(page.locator(":focus")).to_have_attribute(
        "aria-describedby", re.compile(rf"(^| ){name}-error( |$)")
    )
    page.evaluate("scrollTo(0, 0)")  # else the bar at the top lies on what the page was scrolled to


@pytest.mark.parametrize(("look", "width", "dark"), LOOKS)
def test_the_reader_is_led_to_what_is_wrong(
    world: Cast, open_page: OpenPage, look: str, width: int, dark: bool
) -> None:
    shop = world.bakery.store
    make.store_coins(shop, "SETH", 10**18)
    add_wallet(shop, "test", "sepolia", KNOWN)
    second_factor.switch_on(world.alice, "JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP")
    page = open_page(
        "/dashboard/apps/own/new", width=width, height=800, dark=dark, person=world.alice
    )

    page.get_by_label("Name", exact=True).fill("Till")
    page.get_by_label("Redirect URIs").fill("https://till.example/back")
    send(page, "Add app")
    led_to(page, "scopes", "Choose at least one scope.")
    fine(page)
    shoot(page, f"form-group-{look}")

    page.goto(page.url.split("/apps/")[0] + "/payouts/new")
    page.get_by_label("Amount", exact=True).fill("0.25")
    page.get_by_role("radio", name="A different address").check()
    page.locator("#destination_address").fill(TWIN)
    send(page, "Review payout")
    send(page, "Send payout")
    led_to(page, "compared", "Compare the two addresses")
    fine(page)
    shoot(page, f"form-compared-{look}")
    page.get_by_role("checkbox").check()
    page.get_by_label("Code from your authenticator app").fill("000000")
    send(page, "Send payout")
    led_to(page, "code", "That code is not right.")
    fine_again(page)
    assert page.get_by_role("checkbox").is_checked()
    shoot(page, f"form-code-{look}")
    SecondFactor.objects.update(throttling_failure_count=0, throttling_failure_timestamp=None)
