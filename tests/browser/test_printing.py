"""Pages on paper: a receipt of a test payment can't be taken for one of real money,
and one of real money stays plain."""

import io

import pytest
from playwright.sync_api import Page, expect
from pypdf import PdfReader

from tests import make
from tests.browser.conftest import SCREENSHOTS, OpenPage
from tests.browser.test_links import signed_in
from tests.cast import Cast, Shop


@pytest.fixture
def shop(world: Cast) -> Shop:
    return world.bakery


def sheets(page: Page, name: str) -> list[str]:
    """The words on each sheet that the browser would print."""
    printed = page.pdf(format="A4")
    SCREENSHOTS.mkdir(parents=True, exist_ok=True)
    (SCREENSHOTS / f"{name}.pdf").write_bytes(printed)
    return [sheet.extract_text() for sheet in PdfReader(io.BytesIO(printed)).pages]


def test_every_sheet_of_a_test_receipt_says_test_and_a_live_one_nothing(
    shop: Shop, open_page: OpenPage, server: str
) -> None:
    items = [
        {"description": f"Loaf {number}", "quantity": 2, "unit_amount_cents": 100}
        for number in range(50)
    ]
    made = make.paid(shop.test, amount="100.00", line_items=items)
    page = open_page(f"/pay/{made['reference']}")
    expect(page.get_by_role("heading", name="Paid (test)")).to_be_visible()
    printed = sheets(page, "print-test-receipt")
    assert len(printed) > 1 and all("TEST" in sheet for sheet in printed)
    assert "This is a test payment" in printed[0] and "No real money was moved" in " ".join(printed)
    assert sum(sheet.count("Total") for sheet in printed) == 1  # of the whole order, at its end

    page.goto(f"{server}/pay/{made['reference']}?lang=ar")
    page.emulate_media(media="print")
    expect(page.locator(".test-banner")).to_be_visible()
    mark = page.evaluate("getComputedStyle(document.body, '::after').content")
    assert len(mark.strip('"')) > 2, "in every language"
    for hidden in ("#receipt", "[data-print]"):
        expect(page.locator(hidden).first).to_be_hidden()

    page.goto(f"{server}/pay/{make.payment(shop.live)['reference']}?lang=en")
    live = " ".join(sheets(page, "print-live-payment"))
    assert "TEST" not in live.upper() and "Amount due" in live


def test_the_pages_of_a_merchant_print_the_mode_too(
    world: Cast, shop: Shop, open_page: OpenPage
) -> None:
    make.paid(shop.test, amount="24.90")
    page = signed_in(world, open_page, "statement")
    page.emulate_media(media="print")
    assert page.evaluate("getComputedStyle(document.body, '::after').content").startswith('"TEST"')
