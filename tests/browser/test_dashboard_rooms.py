"""The rooms where a merchant sends money back and sets the store up, in a real browser: wide, on a
phone and in the dark."""

import io
import re
from collections.abc import Callable, Iterator

import pytest
from PIL import Image
from playwright.sync_api import Page, expect

from apps.assets.models import AcceptedAsset, Asset, Rate
from apps.assets.services import accept_all_active
from tests.browser.conftest import OpenPage, put_on, shoot
from tests.browser.test_dashboard import fine, fine_again
from tests.cast import Cast
from tests.make import paid


def test_a_refund_is_filled_in_beside_its_payment(world: Cast, open_page: OpenPage) -> None:
    paid(world.bakery.test, amount="90.00")  # bears the fee of the refund
    made = paid(world.bakery.test, amount="30.00")
    page = open_page(f"/dashboard/payments/{made['id']}", person=world.alice)
    page.wait_for_url(f"**/payments/{made['id']}")
    sheet = page.get_by_role("dialog", name="Refund payment")
    expect(sheet).to_be_hidden()
    button = page.get_by_role("link", name="Refund", exact=True)
    button.click()
    expect(sheet).to_be_visible()
    sheet.get_by_role("link", name="50%").click()
    expect(sheet.get_by_label("Amount optional")).not_to_have_value("")
    expect(page).to_have_url(re.compile(f"/payments/{made['id']}$"))
    fine(page)
    shoot(page, "dashboard-refund-sheet")
    sheet.get_by_role("link", name="Cancel").click()
    expect(sheet).to_be_hidden()
    button.click()
    expect(sheet.get_by_label("Amount optional")).to_have_value("")
    page.keyboard.press("Escape")
    expect(sheet).to_be_hidden()
    button.click()
    sheet.get_by_role("button", name="Review refund").click()
    expect(page.get_by_role("heading", name="Confirm refund")).to_be_visible()


def test_a_merchant_refunds_a_part_and_sees_it_on_its_way(world: Cast, open_page: OpenPage) -> None:
    paid(world.bakery.test, amount="50.00")
    made = paid(world.bakery.test)
    page = open_page(f"/dashboard/payments/{made['id']}/refund", person=world.alice)
    page.wait_for_url("**/refund")
    fine(page)
    shoot(page, "dashboard-refund")
    page.get_by_label("Amount", exact=False).first.fill("0.001")
    page.get_by_role("button", name="Review refund").click()
    expect(page.get_by_role("heading", name="Confirm refund")).to_be_visible()
    expect(page.get_by_text("This is a partial refund.")).to_be_visible()
    fine(page)
    shoot(page, "dashboard-refund-review")
    page.get_by_role("button", name="Issue refund").click()
    expect(page.get_by_text("Refund in progress")).to_be_visible()
    fine_again(page)
    shoot(page, "dashboard-refunded")


@pytest.mark.parametrize("look", ["wide", "phone", "dark"])
def test_the_settings_can_be_used_everywhere(world: Cast, open_page: OpenPage, look: str) -> None:
    page = open_page("/dashboard/settings", person=world.alice)
    page.wait_for_url("**/settings")
    if look == "phone":
        page.set_viewport_size({"width": 360, "height": 740})
    page.emulate_media(color_scheme="dark" if look == "dark" else "light")
    for name in ("Checkout and fees", "Accepted coins", "Branding"):
        folded = page.locator(".folded-tabs > summary")
        if look == "phone":
            folded.click()
        pages = page.get_by_role("navigation", name="Store settings")
        pages.get_by_role("link", name=name).click()
        if look == "phone":
            expect(folded).to_contain_text(name)
        else:
            current = pages.get_by_role("link", name=name)
            expect(current).to_have_attribute("aria-current", "page")
        fine(page)
        shoot(page, f"dashboard-settings-{name.split()[0].lower()}-{look}")
    upload_and_see(page)
    shoot(page, f"dashboard-settings-logo-{look}")


def upload_and_see(page: Page) -> None:
    drawn = io.BytesIO()
    Image.new("RGB", (240, 80), "#8a2be2").save(drawn, "PNG")
    page.get_by_label("Palette for buttons").fill("#112233")
    expect(page.get_by_label("Main color")).to_have_value("#112233")
    page.get_by_label("Main color").fill("#ffd400")
    sample = page.locator("[data-brand-sample] > span")
    expect(sample).to_have_css("background-color", "rgb(255, 212, 0)")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_text("hard to distinguish from white")).to_be_visible()
    page.get_by_label("Image").set_input_files(
        {"name": "logo.png", "mimeType": "image/png", "buffer": drawn.getvalue()}
    )
    page.get_by_role("button", name="Upload").click()
    expect(page.get_by_text("Logo updated.")).to_be_visible()
    fine_again(page)


@pytest.fixture
def quote(world: Cast) -> Iterator[Callable[[str], None]]:
    """Says what a dollar coin of test mode is worth, which the bakery accepts meanwhile."""
    asset = Asset.objects.get(pk="USDC_SETH")
    Asset.objects.filter(pk=asset.pk).update(is_active=True, contract_address="0x" + "5" * 40)
    accept_all_active(world.bakery.store)
    rates = Rate.objects.filter(asset=asset, currency="USD")
    [before] = rates.values_list("rate", flat=True)

    def quote_at(price: str) -> None:
        rates.update(rate=price)

    yield quote_at
    rates.update(rate=before)
    AcceptedAsset.objects.filter(asset=asset).delete()
    asset.save(update_fields=["is_active", "contract_address"])


@pytest.mark.parametrize("look", ["wide", "phone", "dark"])
def test_a_merchant_sets_the_lowest_price_of_a_coin(
    world: Cast, open_page: OpenPage, quote: Callable[[str], None], look: str
) -> None:
    page = open_page("/dashboard/settings/assets", person=world.alice)
    put_on(page, width=360 if look == "phone" else 1280, dark=look == "dark")
    field = page.get_by_label("Lowest price optional")
    field.fill("0.98")
    page.get_by_role("button", name="Save USD Coin on").click()
    expect(field).to_have_value("0.98")
    quote("0.90")
    page.reload()
    expect(page.get_by_text("Below your lowest price")).to_be_visible()
    fine(page)
    shoot(page, f"dashboard-lowest-price-{look}")
