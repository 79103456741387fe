"""The rooms of payouts in a real browser: a wallet, a payout, one that failed, and a schedule.
Wide, and dark on a phone."""

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from apps.access.factors import second_factor
from apps.access.models import SecondFactor
from apps.core import clock
from apps.core.redis import buckets
from apps.payouts.models import Payout
from apps.payouts.services import moves
from apps.payouts.services.bank_reviews import verify_bank
from apps.payouts.services.destinations import add_bank, add_wallet
from apps.payouts.services.progress import advance_payouts
from apps.stores.models import User
from tests import make
from tests.browser.conftest import OpenPage, shoot, turn_to
from tests.browser.test_dashboard import fine, fine_again
from tests.cast import Cast
from tests.dashboard.browse import next_code

LOOKS = [("desktop", 1280, False), ("phone-dark", 390, True)]
WALLET = "0x52908400098527886E0F7030069857D2E4169EE7"


class Story:
    """A page that is looked at in each room."""

    def __init__(self, page: Page, look: str, person: User) -> None:
        self.page = page
        self.look = look
        self.person = person
        self.base = page.url.split("/dashboard")[0] + "/dashboard/"

    def go(self, path: str) -> None:
        self.page.goto(self.base + path)

    def press(self, name: str) -> None:
        self.page.get_by_role("button", name=name, exact=True).click()

    def give_code(self) -> None:
        self.page.get_by_label("Code from your authenticator app").fill(next_code(self.person))

    def choose_the_wallet(self) -> None:
        to = self.page.get_by_label("To", exact=True)
        to.select_option(to.locator("option", has_text="The cold one").get_attribute("value"))

    def see(self, heading: str, name: str, judge: Callable[[Page], None] = fine) -> None:
        expect(self.page.get_by_role("heading", name=heading, level=1)).to_be_visible()
        judge(self.page)
        shoot(self.page, f"payouts-{name}-{self.look}")

    def see_again(self, heading: str, name: str) -> None:
        """The parts of the page are judged elsewhere."""
        self.see(heading, name, fine_again)


@pytest.mark.parametrize(("look", "width", "dark"), LOOKS)
def test_a_merchant_pays_out(
    world: Cast, open_page: OpenPage, look: str, width: int, dark: bool
) -> None:
    make.store_coins(world.bakery.store, "SETH", 10**18)
    second_factor.switch_on(world.alice, "JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP")
    page = open_page(
        "/dashboard/payouts/destinations/wallet", width=width, dark=dark, person=world.alice
    )
    story = Story(page, look, world.alice)
    story.see("Add test wallet", "wallet")
    page.get_by_label("Address").fill(WALLET)
    page.get_by_label("Name").fill("The cold one")
    story.press("Add wallet")
    story.see_again("Verify it’s you", "wallet-confirm")
    story.page.get_by_label("Code from your authenticator app").fill("000000")
    story.press("Confirm")
    expect(story.page.get_by_text("That code is not right.")).to_be_visible()
    expect(story.page.get_by_text("The cold one")).to_be_visible()
    story.see("Verify it’s you", "wallet-confirm-again")
    SecondFactor.objects.update(throttling_failure_count=0, throttling_failure_timestamp=None)
    story.give_code()
    story.press("Confirm")
    story.see("Destinations", "destinations")

    send(story)
    fail_and_retry(story)


def send(story: Story) -> None:
    story.go("payouts/new")
    story.page.get_by_label("Amount", exact=True).fill("0.25")
    expect(story.page.get_by_role("radio", name="The cold one")).to_be_checked()
    story.see_again("Pay out", "new")
    story.press("Review payout")
    story.see("Confirm payout", "review")
    expect(story.page.get_by_text(WALLET)).to_be_visible()
    story.give_code()
    story.press("Send payout")
    expect(story.page.get_by_text("Pending").first).to_be_visible()
    advance_payouts()
    story.page.reload()
    story.see_again("Payout", "sent")


def fail_and_retry(story: Story) -> None:
    payout = Payout.objects.select_related("store").get(pk=story.page.url.rpartition("/")[2])
    moves.fail(payout, "unknown", "Declined by the network", clock.real_now())
    story.page.reload()
    expect(story.page.get_by_text("Declined by the network").first).to_be_visible()
    story.see("Payout", "failed")
    story.press("Retry now")
    story.see_again("Verify it’s you", "retry-confirm")
    buckets.client().flushdb()  # more codes than one person gives in a row
    story.give_code()
    story.press("Confirm")
    expect(story.page.get_by_text("Retrying.")).to_be_visible()
    turn_to(story.page, "/dashboard/payouts")
    story.see_again("Payouts", "list")


@pytest.mark.whole  # in dashboard/test_payout_schedules.py and test_every_page.py of the suite
@pytest.mark.parametrize(("look", "width", "dark"), LOOKS)
def test_a_merchant_keeps_a_schedule(
    world: Cast, open_page: OpenPage, look: str, width: int, dark: bool
) -> None:
    make.store_coins(world.bakery.store, "SETH", 10**18)
    second_factor.switch_on(world.alice, "JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP")
    add_wallet(world.bakery.store, "test", "sepolia", WALLET, "The cold one")
    verify_bank(
        add_bank(
            world.bakery.store,
            "test",
            currency="EUR",
            holder="Alice",
            account="DE89370400440532013000",
        )
    )
    page = open_page("/dashboard/payouts/schedules/new", width=width, dark=dark, person=world.alice)
    story = Story(page, look, world.alice)
    story.page.get_by_label("Frequency").select_option("weekly")
    story.choose_the_wallet()
    story.see("Add test schedule", "schedule-new")
    story.press("Add schedule")
    story.see_again("Verify it’s you", "schedule-confirm")
    story.give_code()
    story.press("Confirm")
    story.see("ETH weekly", "schedule")
    turn_to(story.page, str(story.page.get_by_role("link", name="Run now").get_attribute("href")))
    expect(story.page.get_by_role("heading", level=1)).to_be_visible()
    fine(story.page)
    shoot(story.page, f"payouts-run-{story.look}")
    turn_to(story.page, "/dashboard/payouts/schedules")
    story.see("Payout schedules", "schedules")
