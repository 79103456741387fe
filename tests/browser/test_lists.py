"""Lists and the page of a payment in a real browser: wide, on a phone, in the dark, without script,
with names that break tables."""

import pytest
from playwright.sync_api import Page, expect

from tests.billing import records
from tests.browser.conftest import OpenPage, shoot, turn_to
from tests.browser.test_dashboard import fine, fine_again
from tests.cast import Cast
from tests.make import payment, simulated

UGLY = "Überraschungs" * 11 + " \u0642\u0647\u0648\u0629 \U0001f950"


@pytest.fixture
def ugly(world: Cast) -> str:
    """Payments that were paid, half paid and not paid, the first by a customer; its id."""
    api = world.bakery.test
    customer = records.customer(api, email=f"{'a' * 60}@{'long' * 12}.example", name=UGLY[:100])
    bill = records.opened(api, customer_id=customer["id"])
    bought = records.start_payment(bill["public_token"]).json()["payment"]["payment_intent_id"]
    simulated(api, bought)
    payment(api, title=UGLY[:150], order_id="o" * 255)
    simulated(api, payment(api, amount="99999999.00", currency="JPY")["id"], "underpaid")
    return str(bought)


def signed_in(open_page: OpenPage, world: Cast, path: str, **options: object) -> Page:
    return open_page(path, **options, person=world.alice)


@pytest.mark.parametrize(
    ("width", "dark"), [(1280, False), (1280, True), (1920, False), (390, False), (390, True)]
)
def test_lists_and_a_payment_are_fine_at_every_width(
    world: Cast, open_page: OpenPage, ugly: str, width: int, dark: bool
) -> None:
    page = signed_in(open_page, world, "/dashboard/payments", width=width, dark=dark)
    look = f"{width}-{'dark' if dark else 'light'}"
    for name, path in {
        "payments": "payments?min=1&coin=ETH",
        "payment": f"payments/{ugly}",
        "customers": "customers",
        "invoices": "invoices",
        "subscriptions": "subscriptions",
    }.items():
        turn_to(page, f"/dashboard/{path}")
        for panel in page.locator("main details").all():
            panel.evaluate("one => { one.open = true }")
        judge = fine_again if name == "payment" else fine  # judged in test_dashboard.py
        judge(page)
        shoot(page, f"lists-{name}-{look}")


def test_name_and_address_of_a_customer_keep_a_line_each(
    world: Cast, open_page: OpenPage, ugly: str
) -> None:
    for width in (1024, 1280, 1920):
        page = signed_in(open_page, world, "/dashboard/payments", width=width)
        lines = page.locator(".listing .person bdi")
        assert lines.count() >= 2
        for line in lines.all():
            box = line.bounding_box()
            assert box is not None and 0 < box["height"] < 24
        whole = page.locator(".listing .person").first.get_attribute("title")
        assert whole is not None and whole.endswith(".example")


@pytest.mark.parametrize(
    "script",
    [
        True,
        pytest.param(False, marks=pytest.mark.whole),  # as dashboard/test_lists.py in the suite
    ],
)
def test_columns_and_filters_are_chosen_with_and_without_script(
    world: Cast, open_page: OpenPage, script: bool
) -> None:
    payment(world.bakery.test, amount="1200.00")
    page = signed_in(open_page, world, "/dashboard/payments", script=script)
    page.locator("summary", has_text="Columns").click()
    page.get_by_label("Fee", exact=True).check()
    page.get_by_label("Coin", exact=True).last.uncheck()
    page.get_by_role("button", name="Apply", exact=True).click()
    expect(page.get_by_role("columnheader", name="Fee")).to_be_visible()
    expect(page.get_by_role("columnheader", name="Coin")).to_have_count(0)
    page.locator("summary", has_text="Filters").click()
    page.get_by_label("Amount from").fill("1000")
    page.get_by_role("button", name="Apply filters").click()
    expect(page.get_by_role("link", name="At least 1000")).to_be_visible()
    page.locator("summary", has_text="Save filter").click()
    page.get_by_label("Name", exact=True).fill("Large")
    page.get_by_role("button", name="Save filter").click()
    expect(page.get_by_role("link", name="Large")).to_have_attribute("aria-current", "page")
    page.get_by_role("button", name="Delete filter").click()
    expect(page.get_by_role("link", name="Large")).to_have_count(0)


def test_a_customers_name_and_email_take_a_line_each(world: Cast, open_page: OpenPage) -> None:
    """An email address breaks before its @ where a line may break, and here none may."""
    api = world.bakery.test
    customer = records.customer(api, email="chloe@example.com", name="Chloé Martin")
    bill = records.opened(api, customer_id=customer["id"])
    records.start_payment(bill["public_token"])
    page = signed_in(open_page, world, "/dashboard/payments", width=1280)
    lines = page.locator(".listing .person bdi")
    expect(lines).to_have_count(2)
    boxes = [line.bounding_box() for line in lines.all()]
    heights = [box["height"] for box in boxes if box is not None]
    assert len(heights) == 2 and max(heights) < 1.5 * min(heights), heights
