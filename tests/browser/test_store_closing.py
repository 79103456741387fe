"""A store and an account are closed in a real browser: wide in the dark, and on a phone."""

import pytest
from playwright.sync_api import expect

from apps.access.factors import second_factor
from apps.payments.models import Payment
from apps.stores.models import Member
from tests import make
from tests.browser.conftest import OpenPage
from tests.browser.test_own_settings import judged
from tests.cast import PASSWORD, Cast


@pytest.mark.parametrize(("width", "dark"), [(390, False), (1280, True)])
def test_an_owner_closes_the_store(
    world: Cast, open_page: OpenPage, width: int, dark: bool
) -> None:
    second_factor.switch_on(world.alice, "JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP")
    page = open_page("/dashboard/settings/store/close", width=width, dark=dark, person=world.alice)
    expect(page.get_by_role("heading", name="Close Alice's Bakery?")).to_be_visible()
    judged(page, f"close-store-{width}")
    made = make.payment(world.bakery.live)
    page.reload()
    expect(page.get_by_text("You can’t close this store yet")).to_be_visible()
    judged(page, f"close-store-not-yet-{width}")
    Payment.objects.filter(pk=made["id"]).update(status="expired")
    page.reload()
    page.get_by_label("Type the store’s name to confirm").fill("Alice's Bakery")
    page.get_by_role("button", name="Close store").click()
    expect(page.get_by_text("This store was closed on")).to_be_visible()
    judged(page, f"closed-store-{width}")


@pytest.mark.whole  # in access/test_account_closing.py and test_every_page.py of the suite
@pytest.mark.parametrize(("width", "dark"), [(390, False), (1280, True)])
def test_a_person_closes_their_account(
    world: Cast, open_page: OpenPage, width: int, dark: bool
) -> None:
    page = open_page("/dashboard/security/close", width=width, dark=dark, person=world.alice)
    expect(page.get_by_text("You’re the only owner of this store")).to_be_visible()
    judged(page, f"close-account-owner-{width}")
    Member.objects.filter(user=world.bob).update(role="owner")
    page.reload()
    page.get_by_label("Password").fill(PASSWORD)
    judged(page, f"close-account-{width}")
    page.get_by_role("button", name="Close account").click()
    expect(page.get_by_role("heading", name="Your account is closed")).to_be_visible()
    judged(page, f"closed-account-{width}")
