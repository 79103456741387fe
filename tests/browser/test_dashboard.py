"""A merchant at the dashboard, in a real browser: sign in with a code, make a payment link, find
the payment, look at it."""

from binascii import unhexlify

import pytest
from django_otp.oath import totp
from playwright.sync_api import Page, expect

from apps.access.factors import second_factor
from apps.access.models import SecondFactor
from tests.browser.conftest import (
    OpenPage,
    barriers,
    barriers_again,
    overflow,
    shoot,
    turn_to,
)
from tests.browser.judging import FRAME
from tests.cast import PASSWORD, Cast
from tests.make import payment, simulated


def code_of(factor: SecondFactor) -> str:
    return f"{totp(unhexlify(factor.key)):06d}"


def sign_in(page: Page, email: str) -> None:
    page.get_by_label("Email").fill(email)
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Sign in").click()
    page.wait_for_url("**/dashboard/**")


def fine(page: Page) -> None:
    """Its frame is judged by test_frame.py and by who looks at one page after the other."""
    assert barriers(page, FRAME) == []
    assert overflow(page) == 0


def fine_again(page: Page) -> None:
    """Fits; the suite judges what it is made of elsewhere."""
    assert barriers_again(page) == []
    assert overflow(page) == 0


def test_a_merchant_signs_in_with_a_code_makes_a_link_and_finds_the_payment(
    world: Cast, open_page: OpenPage
) -> None:
    factor = second_factor.switch_on(world.alice, "JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP")
    page = open_page("/dashboard/payments")
    fine(page)
    shoot(page, "dashboard-sign-in")
    sign_in(page, world.alice.email)
    fine(page)
    page.get_by_role("textbox", name="Code").fill(code_of(factor))
    page.get_by_role("button", name="Continue").click()
    expect(page.get_by_role("heading", name="Payments", exact=True)).to_be_visible()
    shoot(page, "dashboard-payments-empty")
    fine(page)

    page.get_by_role("link", name="Create one-time link").first.click()
    page.get_by_label("Amount").fill("24.90")
    page.get_by_label("Title").fill("Two loaves of rye")
    page.get_by_label("Order ID").fill("A-1001")
    fine(page)
    shoot(page, "dashboard-create")
    page.get_by_role("button", name="Create link").click()
    expect(page.get_by_role("heading", name="One-time link")).to_be_visible()
    fine(page)
    shoot(page, "dashboard-link")
    page.get_by_role("button", name="Copy").click()
    expect(page.get_by_text("Link copied")).to_be_visible()
    assert "/pay/" in page.evaluate("navigator.clipboard.readText()")

    page.get_by_role("navigation", name="Main").get_by_role("link", name="Payments").click()
    expect(page.get_by_role("heading", name="Payments", exact=True)).to_be_visible()
    page.wait_for_load_state()
    page.keyboard.press("/")
    expect(page.get_by_role("searchbox", name="Search everything")).to_be_focused()
    page.keyboard.type("A-1001")
    page.keyboard.press("Enter")
    page.get_by_role("link", name="Two loaves of rye").click()
    expect(page.get_by_role("heading", name="€24.90")).to_be_visible()
    expect(page.get_by_text("Awaiting payment")).to_be_visible()
    fine_again(page)


def test_the_tabs_swap_the_rows_and_keep_the_address(world: Cast, open_page: OpenPage) -> None:
    simulated(world.bakery.test, payment(world.bakery.test, title="Paid one")["id"])
    payment(world.bakery.test, title="Open one")
    page = open_page("/dashboard/payments", person=world.alice)
    page.evaluate("window.stayed = true")
    page.get_by_label("Filters", exact=True).get_by_role("link", name="Completed").click()
    expect(page.get_by_role("link", name="Open one")).to_be_hidden()
    expect(page.get_by_role("link", name="Paid one")).to_be_visible()
    assert "status=completed" in page.url and page.evaluate("window.stayed")
    page.go_back()
    expect(page.get_by_role("link", name="Open one")).to_be_visible()


def test_an_open_payment_changes_on_the_page_while_it_is_looked_at(
    world: Cast, open_page: OpenPage
) -> None:
    made = payment(world.bakery.test)
    page = open_page(f"/dashboard/payments/{made['id']}", person=world.alice)
    expect(page.get_by_text("Awaiting payment")).to_be_visible()
    simulated(world.bakery.test, made["id"])
    expect(page.get_by_text("Completed", exact=True).first).to_be_visible()
    expect(page.get_by_text("Nothing has arrived")).to_be_hidden()


def test_the_list_works_without_script(world: Cast, open_page: OpenPage) -> None:
    simulated(world.bakery.test, payment(world.bakery.test, title="Paid one")["id"])
    payment(world.bakery.test, title="Open one")
    page = open_page("/dashboard/payments", script=False)
    sign_in(page, world.alice.email)
    page.get_by_label("Filters", exact=True).get_by_role("link", name="Completed").click()
    expect(page.get_by_role("link", name="Paid one")).to_be_visible()
    expect(page.get_by_role("link", name="Open one")).to_have_count(0)
    page.get_by_role("button", name="Live", exact=True).click()
    expect(page.get_by_text("No real money moves")).to_have_count(0)


def test_an_authenticator_app_is_set_up_on_the_account_page(
    world: Cast, open_page: OpenPage
) -> None:
    page = open_page("/dashboard/security", person=world.bob)
    page.get_by_role("link", name="Set up authenticator app").click()
    fine(page)
    shoot(page, "dashboard-enrol")
    page.get_by_label("Your password").fill(PASSWORD)
    page.get_by_role("textbox", name="Code").fill(code_of(second_factor.pending(world.bob)))
    page.get_by_role("button", name="Turn on").click()
    expect(page.get_by_text("They won’t be shown again.")).to_be_visible()
    fine(page)
    shoot(page, "dashboard-backup-codes")


ROOMS = {
    "home": "",
    "payments": "payments",
    "keys": "api-keys",
    "key": "api-keys/new",
    "webhooks": "webhooks",
    "endpoint": "webhooks/new",
    "team": "team",
    "account": "security",
}


@pytest.mark.parametrize(
    ("look", "width", "dark"),
    [
        ("desktop", 1280, False),
        ("phone", 390, False),
        ("dark", 1280, True),
        ("phone-dark", 390, True),
    ],
)
def test_every_room_fits_its_window_and_has_no_barrier(
    world: Cast, open_page: OpenPage, look: str, width: int, dark: bool
) -> None:
    api = world.bakery.test
    paid, underpaid = (
        payment(api, amount=amount, title=title, order_id="A-7")
        for amount, title in (("129.00", "Wedding cake"), ("18.50", None))
    )
    simulated(api, paid["id"], "overpaid")
    simulated(api, underpaid["id"], "underpaid")
    payment(api, amount="4.20", description="Bread " * 20, metadata={"table": "4"})
    api.post(
        "/webhook_endpoints",
        {
            "webhook_endpoint": {
                "url": "https://1.1.1.1/hooks/tillgate",
                "subscribed_events": ["payment_intent.created"],
            }
        },
    )
    page = open_page("/dashboard/", width=width, dark=dark, person=world.alice)
    pages = ROOMS | {
        "payment": f"payments/{paid['id']}",
        "underpaid": f"payments/{underpaid['id']}",
    }
    for name, path in pages.items():
        turn_to(page, f"/dashboard/{path}")
        shoot(page, f"dashboard-{name}-{look}")
        assert barriers(page, FRAME if path else ()) == [], name
        assert overflow(page) == 0, name


def test_the_test_banner_stays_in_sight_however_far_one_scrolls(
    world: Cast, open_page: OpenPage
) -> None:
    for _ in range(12):
        payment(world.bakery.test)
    page = open_page("/dashboard/payments", width=390, height=600, person=world.alice)
    page.mouse.wheel(0, 4000)
    expect(page.get_by_text("No real money moves.")).to_be_in_viewport()
