"""The bell, its page, the choice of emails and the link that ends them, in a real browser: wide, on
a phone, in the dark."""

import pytest
from playwright.sync_api import expect

from apps.stores.notices import notifications
from apps.stores.notices.notifications import NewNotification
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
            NewNotification(
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


@pytest.mark.parametrize(("width", "dark"), VIEWS)
def test_a_row_is_read_by_itself_and_the_bell_counts_the_others(
    world: Cast, open_page: OpenPage, width: int, dark: bool
) -> None:
    page = open_page("/dashboard/balances", width=width, dark=dark, person=world.alice)
    notifications.record(
        *(
            NewNotification(
                world.bakery.store.pk,
                "test",
                "payout_problem",
                f"{width}{dark}{number}",
                f"Payout of 0.{number} ETH failed",
                "/dashboard/payouts",
                "",
                f"0.{number} ETH",
            )
            for number in (1, 2, 3)
        )
    )

    def bell(unread: int) -> None:
        name = f"Notifications, {unread} unread" if unread else "Notifications"
        expect(page.locator(".bell")).to_have_accessible_name(name)

    page.reload()
    bell(3)
    page.locator(".bell").click()
    rows = page.locator(".notices > li")
    expect(rows).to_have_count(3)
    bell(3)
    rows.nth(1).get_by_role("button", name="Mark as read").click()
    expect(page.get_by_text("Unread:", exact=True)).to_have_count(2)
    expect(rows.nth(1).get_by_text("Unread:")).to_have_count(0)
    bell(2)
    judged(page, f"notifications-read-{width}")
    rows.nth(0).get_by_role("link").click()
    page.wait_for_url("**/dashboard/payouts")
    bell(1)
    page.locator(".bell").click()
    page.get_by_role("button", name="Mark all as read").click()
    expect(page.get_by_text("Unread:", exact=True)).to_have_count(0)
    bell(0)
    expect(page.get_by_role("button", name="Mark all as read")).to_have_count(0)
    fine_again(page)
