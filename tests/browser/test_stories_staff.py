"""A day at the staff site: what waits and for how long, a payout that takes two, a payment found by
its hash, and the books."""

import re
from typing import Any

from playwright.sync_api import Page, expect

from apps.core.redis import buckets
from apps.payouts.models import Payout
from apps.stores.models import StaffRequest, User
from apps.stores.services import change_store
from tests import make
from tests.browser.conftest import OpenPage, barriers_again, overflow, shoot
from tests.browser.test_staff_requests import enter, member
from tests.cast import Cast
from tests.dashboard.browse import next_code
from tests.whole import usually

# axe writes styles of its own, which the site's policy refuses: the suite has the pages under it.
LOOK: dict[str, Any] = usually(short={}, whole={"bypass_csp": True})


def see(page: Page, name: str) -> None:
    """The walk over the staff site judges these pages."""
    assert barriers_again(page) == []
    assert overflow(page) <= 0
    shoot(page, f"story-staff-{name}")


def fresh_code(person: User) -> str:
    """More codes than one person may give in a row."""
    buckets.client().flushdb()
    return next_code(person)


def held(world: Cast) -> Payout:
    """A payout that waits for staff, worth more than one person may let go."""
    make.store_coins(world.bakery.store, "SETH", 10**18)
    change_store(world.bakery.store, payout_review_threshold_cents=0)
    return Payout.objects.get(pk=make.payout(world.bakery.test, 10**17)["id"])


def test_two_members_of_staff_let_a_payout_go_and_look_around(
    world: Cast, open_page: OpenPage, settings: Any
) -> None:
    settings.STAFF_FOUR_EYES_ABOVE_CENTS = 0
    sale = make.paid(world.bakery.test, title="A hundred rolls")
    payout = held(world)
    first = member("Sam")
    second = member("Tess")

    page = enter(open_page, first, **LOOK)
    site = page.url.split("/admin/")[0] + "/admin/"
    queue = page.get_by_role("listitem").filter(has_text="Payouts in review").first
    expect(queue).to_contain_text(re.compile(r"\d+\+?\s+Oldest (\d+|less than a minute)"))
    see(page, "home")
    queue.get_by_role("link").click()
    expect(page.locator(f"a.decide[href*='{payout.pk}']")).to_be_visible()
    page.goto(f"{site}payouts/payout/{payout.pk}/decide/")
    expect(page.get_by_role("heading", name="What is requested")).to_be_visible()
    expect(page.get_by_text("Two: this amount needs a second approval")).to_be_visible()
    expect(page.get_by_role("heading", name="Other payouts of the store")).to_be_visible()
    see(page, "payout")
    page.get_by_label("Reason").fill("The shop is known")
    page.get_by_label("Code").fill(fresh_code(first))
    page.get_by_role("button", name="Approve").click()
    expect(page.get_by_text("sent for a second approval")).to_be_visible()
    payout.refresh_from_db()
    assert payout.status == "requires_review"

    approve_as_second(
        open_page,
        second,
        f"stores/staffrequest/{StaffRequest.objects.get(asked_by=first).pk}/decide/",
    )
    payout.refresh_from_db()
    assert payout.status == "pending"
    look_around(page, site, sale)


def approve_as_second(open_page: OpenPage, second: User, path: str) -> None:
    other = enter(open_page, second, path, **LOOK)
    expect(other.get_by_text("The shop is known").first).to_be_visible()
    see(other, "second-person")
    other.get_by_label("Reason").fill("Called the shop")
    other.get_by_label("Code").fill(fresh_code(second))
    other.get_by_role("button", name="Approve").click()
    expect(other.get_by_text("approved and carried out")).to_be_visible()


def look_around(page: Page, site: str, sale: dict[str, Any]) -> None:
    page.goto(f"{site}search/")
    page.get_by_role("searchbox").or_(page.locator("input[name=q]")).first.fill(
        sale["transaction"]["tx_hash"]
    )
    page.get_by_role("button", name="Search").first.click()
    page.locator(".hits a").first.wait_for()
    see(page, "found")
    expect(page.locator("main, #content").first).to_contain_text(sale["reference"])
    page.goto(f"{site}trial-balance/")
    expect(page.get_by_role("paragraph").get_by_text("Balanced", exact=True)).to_be_visible()
    expect(
        page.get_by_role("heading", name=re.compile("^ETH on Ethereum Sepolia SETH")).first
    ).to_be_visible()
    see(page, "trial-balance")
