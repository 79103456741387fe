"""A payout of two people in a real browser: turned on, asked for, approved, rejected. Wide and on a
phone, light and dark."""

import pytest
from playwright.sync_api import expect

from apps.access.factors import second_factor
from apps.payouts.models import Payout
from tests import make
from tests.browser.conftest import OpenPage
from tests.browser.test_paying_out import WALLET, Story
from tests.cast import Cast
from tests.payouts.two_people import LITTLE, MUCH, held_of, two_people

SECRET = "JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP"
LOOKS = [
    ("desktop", 1280, False),
    ("desktop-dark", 1280, True),
    ("phone", 390, False),
    ("phone-dark", 390, True),
]


@pytest.mark.parametrize(("look", "width", "dark"), LOOKS)
def test_an_owner_approves_what_an_admins_key_asked_for(
    world: Cast, open_page: OpenPage, look: str, width: int, dark: bool
) -> None:
    two = two_people(world)
    if second_factor.confirmed(world.alice) is None:
        second_factor.switch_on(world.alice, SECRET)
    first = make.payout(two.key, MUCH, destination_address=WALLET)["id"]
    second = make.payout(two.key, 5 * LITTLE)["id"]
    page = open_page(
        f"/dashboard/approvals/{held_of(first).pk}", width=width, dark=dark, person=world.alice
    )
    story = Story(page, look, world.alice)
    story.see("Approve payout", "approval")
    expect(page.get_by_text(WALLET)).to_be_visible()
    story.press("Approve")
    story.see_again("Verify it’s you", "approval-confirm")
    story.give_code()
    story.press("Confirm")
    expect(page.get_by_text("Approved. The payout is being sent.")).to_be_visible()
    story.see_again("Payout approved", "approval-approved")
    assert Payout.objects.get(pk=first).status == "pending"

    story.go("approvals")
    story.see("Approvals", "approvals")
    page.locator("tbody .row-link").click()
    page.get_by_role("link", name="Reject", exact=True).click()
    story.see("Reject this payout?", "approval-reject")
    page.get_by_label("Reason").fill("I don't know this address")
    story.press("Reject")
    expect(page.get_by_text("Rejected. Nothing was sent.")).to_be_visible()
    assert Payout.objects.get(pk=second).status == "failed"
    story.go("approvals?show=decided")
    story.see_again("Approvals", "approvals-decided")
    story.go("settings/approvals")
    story.see("Store settings", "approvals-rule")
    story.go(f"team/{two.adam.pk}/remove")
    expect(page.get_by_text("Nobody may be left to approve payouts.")).to_be_visible()
