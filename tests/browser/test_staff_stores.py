"""Stores at the staff site in a real browser: found by name, cards by one press, what would change
before it is sent, a page that is out of date, and a suspension by two."""

import re
import uuid
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from apps.access.models import SecondFactor
from apps.core import clock
from apps.platforms.requests import VerificationRequest
from apps.platforms.services.verifications import submit_verification
from apps.stores.models import StaffRequest, Store, Verification
from apps.stores.services import change_store
from tests.browser.conftest import OpenPage, barriers, overflow, shoot
from tests.browser.looks import seen
from tests.browser.test_staff_requests import JUDGED, enter, member
from tests.browser.test_stories_staff import fresh_code
from tests.cast import Cast
from tests.platforms.makers import VERIFICATION
from tests.whole import usually

LOOKS = usually(short=dict(list(seen(JUDGED).items())[:1]), whole=seen(JUDGED))


def see(page: Page, name: str) -> None:
    assert overflow(page) <= 0
    assert barriers(page) == []
    shoot(page, f"staff-stores-{name}")


@pytest.mark.parametrize("look", LOOKS.values(), ids=LOOKS)
def test_cards_are_one_press_from_a_store_that_was_found_by_its_name(
    world: Cast, open_page: OpenPage, look: dict[str, Any]
) -> None:
    """And what one doesn't see stays as it is."""
    name = f"Rye {uuid.uuid4().hex[:8]}"  # the browsers' tests share their stores' names
    store = change_store(
        world.bakery.store, name=name, card_funding_live=True, card_funding_test=True
    )
    page = enter(open_page, member("Sam"), **look)
    page.get_by_role("link", name="Change a store’s cards").click()
    page.get_by_label("Store", exact=True).fill(store.name[:10])
    page.get_by_role("button", name="Find stores").click()
    see(page, "pick")
    page.locator(f"a[href*='{store.pk}']").click()
    expect(page.get_by_text("Now: On.").first).to_be_visible()
    expect(page.locator("main")).not_to_contain_text(re.compile("x402|agents", re.I))
    page.get_by_label("Cards in test mode").select_option("off")
    page.get_by_role("button", name="Review change").click()
    changes = page.get_by_role("region", name="Changes")
    expect(changes).to_contain_text("Cards in test mode")
    expect(changes).not_to_contain_text("Cards in live mode")
    see(page, "review")
    page.get_by_label("Reason").fill("They asked for it")
    page.get_by_role("button", name="Change now").click()
    expect(page.get_by_role("heading", name="Card funding")).to_be_visible()
    store.refresh_from_db()
    assert (store.card_funding_live, store.card_funding_test) == (True, False)
    see(page, "overview")

    page.get_by_role("link", name="Turn on cards in test mode").click()
    page.get_by_label("Reason").fill("Once more")
    page.get_by_role("button", name="Send for approval").click()
    expect(page.get_by_text("sent for a second approval")).to_be_visible()
    assert StaffRequest.objects.get(target_id=str(store.pk), reason="Once more")


@pytest.mark.parametrize("look", LOOKS.values(), ids=LOOKS)
def test_a_page_that_is_out_of_date_saves_nothing(
    world: Cast, open_page: OpenPage, look: dict[str, Any]
) -> None:
    store = world.bakery.store
    page = enter(open_page, member("Sam"), f"stores/store/{store.pk}/change/", **look)
    change_store(store, accept_underpayments=True)
    page.get_by_label("Customer pays the fee").check()
    page.get_by_role("button", name="Save Payments").click()
    expect(page.get_by_text("This has changed since you opened the page")).to_be_visible()
    expect(page.get_by_label("Underpayments are accepted")).to_be_checked()
    store.refresh_from_db()
    assert store.accept_underpayments and not store.customer_pays_fee

    page.get_by_label("Customer pays the fee").check()
    page.get_by_role("button", name="Save Payments").click()
    expect(page.get_by_role("region", name="Changes")).to_contain_text("Customer pays the fee")
    page.get_by_label("Reason").fill("Their contract")
    page.get_by_role("button", name="Change now").click()
    expect(page.get_by_text("Store saved")).to_be_visible()
    store.refresh_from_db()
    assert store.accept_underpayments and store.customer_pays_fee


@pytest.mark.parametrize("look", LOOKS.values(), ids=LOOKS)
def test_two_suspend_new_payments_and_history_tells_it(
    world: Cast, open_page: OpenPage, look: dict[str, Any]
) -> None:
    store = world.strangers.store
    first, second = member("Sam"), member("Tess")
    page = enter(open_page, first, f"stores/store/{store.pk}/change/", **look)
    page.get_by_role("link", name="Suspend New payments").click()
    expect(page.get_by_text("Open payments can still be paid")).to_be_visible()
    see(page, "suspend")
    page.get_by_label("Reason").fill("Customers report fraud")
    page.get_by_role("button", name="Send for approval").click()
    expect(page.get_by_role("link", name="Review request New payments")).to_be_visible()

    row = StaffRequest.objects.get(kind="suspension", asked_by=first)
    other = enter(open_page, second, f"stores/staffrequest/{row.pk}/decide/", **look)
    other.get_by_label("Code").fill(fresh_code(second))
    other.get_by_role("button", name="Approve").click()
    expect(other.get_by_text("approved and carried out")).to_be_visible()
    store.refresh_from_db()
    assert store.payments_suspended_at is not None
    site = other.url.split("/admin/")[0]
    other.goto(f"{site}/admin/stores/store/{store.pk}/history/")
    expect(other.locator("#change-history")).to_contain_text("Customers report fraud")
    expect(other.locator("#change-history")).to_contain_text("New payments suspended")
    see(other, "history")
    Store.objects.filter(pk=store.pk).update(payments_suspended_at=None)


@pytest.mark.parametrize("look", LOOKS.values(), ids=LOOKS)
def test_a_business_is_verified_by_its_decision_with_a_code(
    world: Cast, open_page: OpenPage, look: dict[str, Any]
) -> None:
    store = world.strangers.store
    Verification.objects.filter(store=store, status="pending").delete()
    row = submit_verification(store, VerificationRequest(**VERIFICATION))
    Store.objects.filter(pk=store.pk).update(kyc_confirmed_at=None)
    person = member("Sam")
    page = enter(open_page, person, f"stores/store/{store.pk}/change/", **look)
    assert page.locator("[name=kyc_confirmed_at]").count() == 0
    page.get_by_role("link", name="Review", exact=True).click()
    for told in ("+49 30 123456", "Bread and cake", "HRB 1234", "Handelsregister"):
        expect(page.get_by_text(told).first).to_be_visible()
    see(page, "verification")
    page.get_by_role("button", name="Verify").click()
    row.refresh_from_db()
    assert row.status == "pending"
    # A wrong code makes the next one wait.
    SecondFactor.objects.update(throttling_failure_count=0, throttling_failure_timestamp=None)
    page.get_by_label("Code").fill(fresh_code(person))
    page.get_by_role("button", name="Verify").click()
    expect(page.get_by_role("heading", name="Business verifications")).to_be_visible()
    row.refresh_from_db()
    store.refresh_from_db()
    assert row.status == "approved" and store.kyc_confirmed_at is not None
    assert store.kyc_confirmed_at <= clock.real_now()
