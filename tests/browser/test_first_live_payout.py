"""The first live payout, and the first view of a store that is paid live, in a real browser."""

from datetime import timedelta

import pytest
from playwright.sync_api import expect

from apps.access.factors import second_factor
from apps.core import clock
from apps.payments.models import Payment
from apps.payouts.models import Destination
from apps.payouts.services.destinations import add_wallet
from tests import make
from tests.browser.conftest import OpenPage, put_on, shoot, turn_to
from tests.browser.test_dashboard import fine
from tests.cast import Cast

WALLET = "0x52908400098527886E0F7030069857D2E4169EE7"
LOOKS = [("phone", 390, False), ("phone-dark", 390, True), ("wide", 1280, False)]


@pytest.mark.parametrize(("look", "width", "dark"), LOOKS)
def test_an_owner_sees_when_a_new_wallet_can_be_paid_out_to(
    world: Cast, open_page: OpenPage, look: str, width: int, dark: bool
) -> None:
    """She comes to live mode by herself: the store has been paid there."""
    second_factor.switch_on(world.alice, "JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP")
    store = world.bakery.store
    Payment.objects.filter(pk=make.payment(world.bakery.live)["id"]).update(status="completed")
    make.store_coins(store, "ETH", 10**18)
    saved = add_wallet(store, "live", "ethereum", WALLET, "My Ledger")
    until = clock.real_now() + timedelta(hours=23)
    Destination.objects.filter(pk=saved.pk).update(usable_from=until)
    page = open_page(
        "/dashboard/payouts/new", width=width, height=844, dark=dark, person=world.alice
    )
    expect(page.get_by_role("heading", name="Pay out live balance")).to_be_visible()
    choice = page.get_by_role("radio", name="My Ledger")
    expect(choice).to_be_disabled()
    expect(page.locator(".choice", has_text="My Ledger")).to_contain_text("available from")
    fine(page)
    shoot(page, f"payout-waiting-{look}")
    expect(page.locator("#destination_address")).to_be_visible()
    page.locator("#amount").fill("0,1")
    page.locator("#destination_address").fill(WALLET)
    page.get_by_role("button", name="Review payout").click()
    expect(page.locator("#destination_address-error")).to_contain_text(
        "This wallet can be used from"
    )
    fine(page)
    turn_to(page, "/dashboard/payouts/schedules/new")
    expect(page.locator("#destination option").first).to_contain_text("available from")
    shoot(page, f"schedule-waiting-{look}")


def test_suggested_amounts_have_a_field_each(world: Cast, open_page: OpenPage) -> None:
    page = open_page("/dashboard/payment-links/new", width=390, height=844, person=world.alice)
    page.get_by_text("Customer chooses the amount").click()
    expect(page.get_by_label("Suggested amount 4")).to_be_visible()
    fine(page)
    shoot(page, "link-form-chosen-phone")
    put_on(page, width=1280, dark=True)
    fine(page)
    shoot(page, "link-form-chosen-wide-dark")


def test_a_second_browser_begins_in_the_mode_of_the_first(world: Cast, open_page: OpenPage) -> None:
    page = open_page("/dashboard/", person=world.alice)
    expect(page.locator(".mode-switch")).to_be_visible()
    page.locator(".mode-switch button", has_text="Live").click()
    expect(page.get_by_text("No real money")).to_have_count(0)
    other = open_page("/dashboard/payouts/new", width=390, height=844, person=world.alice)
    expect(other.get_by_role("heading", name="Pay out live balance")).to_be_visible()
