"""The bell, its page, the choice of emails and the link that ends them, in a real browser: wide, on
a phone, in the dark."""

import pytest
from playwright.sync_api import expect

from apps.stores.notices import notifications
from apps.stores.notices.notifications import News
from tests.browser.conftest import OpenPage, shoot
from tests.browser.test_dashboard import fine_again
from tests.browser.test_own_settings import UGLY, VIEWS, judged
from tests.cast import Cast


@pytest.mark.parametrize(("width", "dark"), VIEWS)
def test_what_is_new_is_seen_at_the_bell_and_on_its_page(
    world: Cast, open_page: OpenPage, width: int, dark: bool
) -> None:
    page = open_page("/dashboard/notifications", width=width, dark=dark, person=world.alice)
    own = page.url.partition("/dashboard")[0] + "/dashboard/"
    expect(page.get_by_text("No test notifications yet")).to_be_visible()
    fine_again(page)
    titles = ("Payout of 0.5 ETH failed", "Payment of €24.90 was underpaid", UGLY)
    notifications.record(
        *(
            News(
                world.bakery.store.pk,
                "test",
                "payout_problem",
                title,
                title,
                "/dashboard/payouts",
                UGLY,
                "0.5 ETH" if "ETH" in title else "1,234,567.123456789012345678 USDC",
            )
            for title in titles
        )
    )
    page.goto(f"{own}balances")
    shoot(page, f"notifications-bell-{width}")
    page.get_by_role("link", name="Notifications, 3 unread").click()
    expect(page.get_by_text("Payout failed", exact=True)).to_be_visible()
    judged(page, f"notifications-{width}")
    page.get_by_role("link", name="Settings", exact=True).last.click()
    page.get_by_label("Email: Payouts confirmed").select_option("immediately")
    page.get_by_label("In the dashboard: Payouts that fail").uncheck()
    judged(page, f"notifications-settings-{width}")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_text("Saved for")).to_be_visible()
    expect(page.get_by_label("In the dashboard: Payouts that fail")).not_to_be_checked()
    page.get_by_role("link", name="Notifications", exact=True).last.click()
    expect(page.get_by_text("No test notifications yet")).to_be_visible()
    path = notifications.unsubscribe_path(world.alice, world.bakery.store, "payout_problem")
    page.goto(page.url.partition("/dashboard")[0] + path)
    judged(page, f"unsubscribe-{width}")
    page.get_by_role("button", name="Unsubscribe").click()
    expect(page.get_by_text("You’re unsubscribed")).to_be_visible()
    fine_again(page)
