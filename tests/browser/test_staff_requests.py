"""Requests that take two members of staff in a real browser: one asks on a form, another sees
exactly that and approves it; wide, narrow, dark."""

import uuid
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from apps.access.factors import second_factor
from apps.audit.invariants import INVARIANTS
from apps.ledger.models import Movement
from apps.payments.models import Withdrawal
from apps.stores.models import StaffRequest, User
from apps.stores.staff_roles import StaffRole
from tests import make
from tests.auditing import found_of
from tests.browser.conftest import OpenPage, barriers, overflow, shoot
from tests.browser.looks import seen
from tests.cast import PASSWORD, Cast
from tests.dashboard.browse import next_code
from tests.stage import empty_buckets
from tests.whole import usually

# axe writes styles of its own, which the site's policy refuses: it judges in a browser that lets
# it.
UNDER_ITS_POLICY: dict[str, dict[str, Any]] = {"wide": {}, "phone": {"width": 390, "height": 800}}
JUDGED: dict[str, dict[str, Any]] = {
    "judged in the dark": {"dark": True, "bypass_csp": True},
    "judged on a phone": {"width": 390, "height": 801, "bypass_csp": True},
}
# The walk over the staff site judges these pages as well: the suite asks whether they work.
LOOKS = usually(short=seen(UNDER_ITS_POLICY), whole=seen(UNDER_ITS_POLICY) | seen(JUDGED))
OF_STAFF = [item.name for item in INVARIANTS if "staff" in item.name or "two" in item.name]


def member(name: str) -> User:
    person = make.clerk(*StaffRole.values)
    person.name = name
    person.set_password(PASSWORD)
    person.save()
    second_factor.switch_on(person, "JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP")
    return person


def enter(open_page: OpenPage, person: User, path: str = "", **look: Any) -> Page:
    empty_buckets()  # staff sign in from another address than who signed in before
    page = open_page(f"/admin/{path}", person=person, **look)
    assert page.url.endswith(f"/admin/{path}"), "neither password nor code is asked for"
    return page


def fine(page: Page, look: dict[str, Any]) -> None:
    assert overflow(page) <= 0
    if "bypass_csp" not in look:
        return
    assert barriers(page) == []


@pytest.mark.parametrize("look", LOOKS.values(), ids=LOOKS)
def test_one_asks_for_a_correction_and_another_approves_it_with_a_code(
    world: Cast, open_page: OpenPage, look: dict[str, Any]
) -> None:
    name = "-".join(["staff", *(str(value) for value in look.values())])
    first = member("Sam")
    second = member("Tess")
    page = enter(open_page, first, **look)
    shoot(page, f"{name}-index")
    page.get_by_role("link", name="Request a ledger correction").click()
    fine(page, look)
    page.get_by_role("link", name="Choose another").click()
    page.get_by_label("Store", exact=True).fill(str(world.bakery.store.pk))
    page.get_by_role("button", name="Find stores").click()
    page.locator(f"a[href*='{world.bakery.store.pk}']").click()
    page.get_by_label("Asset").select_option("SETH")
    page.get_by_label("Account").select_option("available")
    page.get_by_label("Amount").fill("0.25")
    page.get_by_label("Reason").fill("A refund that the customer sent back by mistake")
    shoot(page, f"{name}-ask")
    page.get_by_role("button", name="Submit request").click()
    expect(page.get_by_text("sent for a second approval")).to_be_visible()
    shoot(page, f"{name}-queue")
    asked = StaffRequest.objects.get(asked_by=first)
    decision = f"stores/staffrequest/{asked.pk}/decide/"
    page.goto(page.url.split("/admin/")[0] + f"/admin/{decision}")
    expect(page.get_by_role("button", name="Approve")).to_have_count(0)
    expect(page.get_by_role("button", name="Withdraw request")).to_be_visible()

    other = enter(open_page, second, decision, **look)
    expect(
        other.get_by_text("A refund that the customer sent back by mistake").first
    ).to_be_visible()
    fine(other, look)
    shoot(other, f"{name}-decide")
    other.get_by_label("Reason").fill("Seen in the mail of the store")
    other.get_by_label("Code").fill(next_code(second))
    other.get_by_role("button", name="Approve").click()
    expect(other.get_by_text("approved and carried out")).to_be_visible()
    assert Movement.objects.filter(key=f"correction:{asked.target_id}").count() == 1
    shoot(other, f"{name}-decided")
    assert found_of(*OF_STAFF) == []


@pytest.mark.whole  # in the suite without a browser in console/test_staff_withdrawals.py
@pytest.mark.parametrize("look", seen(JUDGED).values(), ids=seen(JUDGED))
def test_earnings_are_asked_for_by_one_and_let_go_by_another(
    world: Cast, open_page: OpenPage, look: dict[str, Any], settings: Any
) -> None:
    settings.WITHDRAWAL_ADDRESSES = ["0x" + "a1" * 20]
    first = member("Sam")
    second = member("Tess")
    reference = uuid.uuid4().hex
    make.service_coins("SETH", 100 * 10**18)  # more than all corrections of other tests took
    make._correct("SETH", "service_fees", None, 10**18, first)
    page = enter(open_page, first, **look)
    page.get_by_role("link", name="Withdraw earnings").click()
    fine(page, look)
    page.get_by_label("Asset").select_option("SETH")
    page.get_by_label("Amount").fill("0.25")
    page.get_by_label("Reference").fill(reference)
    page.get_by_label("Reason").fill("What the spring brought")
    shoot(page, f"withdrawal-ask-{len(look)}")
    page.get_by_role("button", name="Submit request").click()
    expect(
        page.get_by_text("waiting for approval by another member of finance staff")
    ).to_be_visible()
    shoot(page, f"withdrawal-list-{len(look)}")

    row = Withdrawal.objects.get(reference=reference)
    other = enter(open_page, second, f"payments/withdrawal/{row.pk}/decide/", **look)
    fine(other, look)
    shoot(other, f"withdrawal-decide-{len(look)}")
    other.get_by_label("Code").fill(next_code(second))
    other.get_by_role("button", name="Approve").click()
    expect(other.get_by_text("approved and in progress")).to_be_visible()
