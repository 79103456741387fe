"""An owner reads what a reset of test data takes, proves with a code that it is them, and finds
test mode empty afterwards: on a phone, and wide in the dark."""

import pytest
from django.conf import LazySettings
from playwright.sync_api import expect

from apps.access.factors import second_factor
from apps.platforms.services import test_data
from apps.stores.models import Store
from tests import make
from tests.browser.conftest import OpenPage, turn_to
from tests.browser.test_dashboard import code_of
from tests.browser.test_own_settings import judged
from tests.cast import Cast


@pytest.mark.parametrize(("width", "dark"), [(390, False), (1280, True)])
def test_an_owner_resets_the_test_data(
    world: Cast, open_page: OpenPage, settings: LazySettings, width: int, dark: bool
) -> None:
    settings.TEST_RESET_SECONDS = 0
    factor = second_factor.switch_on(world.alice, "JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP")
    made = make.paid(world.bakery.test)
    page = open_page("/dashboard/test-data", width=width, dark=dark, person=world.alice)
    facts = page.get_by_role("region", name="What goes").locator(".facts div")
    expect(page.get_by_role("heading", name="What stays")).to_be_visible()
    expect(facts.filter(has_text="Payments").first).to_contain_text("1")
    judged(page, f"reset-test-data-{width}")
    page.get_by_role("button", name="Reset test data").click()
    expect(page.get_by_role("heading", name="Verify it’s you")).to_be_visible()
    page.get_by_role("textbox", name="Code").fill(code_of(factor))
    page.get_by_role("button", name="Confirm").click()
    expect(page.get_by_text("Test data is being reset").first).to_be_visible()
    judged(page, f"resetting-test-data-{width}")
    for _ in range(2):
        test_data.put_away()
    page.goto(page.url)
    expect(facts.filter(has_text="Payments").first).to_contain_text("0")
    turn_to(page, "/dashboard/payments")
    expect(page.locator("main")).not_to_contain_text(made["reference"])
    judged(page, f"payments-after-reset-{width}")
    assert Store.objects.get(archive_of=world.bakery.store).deleted_at is not None
