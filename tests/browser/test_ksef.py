"""A Polish shop sends an invoice through KSeF: the token in the settings, the button, what became
of it and the receipt; wide, on a phone, light and dark."""

import pytest
from playwright.sync_api import Page, expect

from apps.billing.invoices.delivering import deliver_due
from apps.billing.models import EInvoiceDelivery, TaxSettings
from tests.billing.ksef import NIP, TOKEN
from tests.billing.test_ksef import billed
from tests.browser.conftest import OpenPage, shoot
from tests.browser.test_dashboard import fine
from tests.cast import Cast
from tests.e_invoices.generated import seller

LOOKS = [
    ("desktop", 1280, False),
    ("desktop-dark", 1280, True),
    ("phone", 390, False),
    ("phone-dark", 390, True),
]


def seen(page: Page, name: str) -> None:
    fine(page)
    shoot(page, f"dashboard-ksef-{name}")


@pytest.mark.parametrize(("look", "width", "dark"), LOOKS)
def test_a_polish_shop_sends_an_invoice_and_keeps_its_receipt(
    world: Cast, open_page: OpenPage, look: str, width: int, dark: bool
) -> None:
    shop = world.bakery
    seller(shop, "PL", f"PL{NIP}")
    page = open_page("/dashboard/settings/taxes", width=width, dark=dark, person=shop.owner)
    page.get_by_label("KSeF token").fill(TOKEN)
    seen(page, f"token-{look}")
    page.get_by_role("button", name="Save changes").click()
    expect(page.get_by_role("button", name="Remove the KSeF token")).to_be_visible()
    expect(page.get_by_label("KSeF token")).to_have_value("")
    assert (
        TOKEN not in page.content()
        and TaxSettings.objects.get(store=shop.store).ksef_token == TOKEN
    )
    seen(page, f"token-kept-{look}")

    made = billed(shop)
    page.goto(page.url.replace("settings/taxes", f"invoices/{made['id']}"))
    page.get_by_role("button", name="Send through KSeF").click()
    expect(page.get_by_role("button", name="Send through KSeF")).to_have_count(0)
    seen(page, f"waits-{look}")
    deliver_due()
    sent = EInvoiceDelivery.objects.get(store=shop.store)
    assert sent.status == "delivered", sent.error
    page.reload()
    expect(page.get_by_text(sent.number)).to_be_visible()
    seen(page, f"sent-{look}")
    with page.expect_download() as download:
        page.get_by_role("link", name="Receipt").click()
    assert sent.number in download.value.path().read_text()

    page.goto(page.url.replace(f"invoices/{made['id']}", "settings/taxes"))
    page.get_by_role("button", name="Remove the KSeF token").click()
    expect(page.get_by_text("The KSeF token was removed.")).to_be_visible()
    assert not TaxSettings.objects.get(store=shop.store).sealed_ksef_token
