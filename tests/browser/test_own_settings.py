"""A person's profile and what a store says of itself, in a real browser: wide, on a phone, in the
dark, with ugly names."""

import pytest
from playwright.sync_api import Page, expect

from apps.core import clock
from apps.platforms.services.verifications import reject_verification
from apps.stores.models import Store, User, Verification
from tests.browser.conftest import OpenPage, shoot
from tests.browser.test_dashboard import fine, fine_again
from tests.cast import Cast

UGLY = "مخبز أليس 🥐 " + "W" * 80
VIEWS = [(390, False), (1280, True), (1920, False)]


def judged(page: Page, name: str) -> None:
    fine(page)
    shoot(page, name)


def signed_in(open_page: OpenPage, world: Cast, width: int, dark: bool, path: str) -> Page:
    return open_page(
        f"/dashboard/{path}", width=width, dark=dark, timezone_id="Asia/Tokyo", person=world.alice
    )


@pytest.mark.parametrize(("width", "dark"), VIEWS)
def test_a_person_sees_times_of_their_browser_and_chooses_a_zone(
    world: Cast, open_page: OpenPage, width: int, dark: bool
) -> None:
    page = signed_in(open_page, world, width, dark, "profile")  # where it tells its zone
    page.reload()
    expect(page.get_by_text("Pages use Asia/Tokyo")).to_be_visible()
    shoot(page, f"profile-{width}")
    page.get_by_label("Time zone").select_option("America/New_York")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_text("Profile saved.")).to_be_visible()
    expect(page.get_by_text("Pages use America/New_York")).to_be_visible()
    User.objects.filter(pk=world.alice.pk).update(name=UGLY[:100])
    page.reload()
    judged(page, f"profile-ugly-{width}")


@pytest.mark.whole  # in dashboard/test_settings.py and test_every_page.py of the suite
@pytest.mark.parametrize(("width", "dark"), VIEWS)
def test_a_store_tells_who_it_is_and_who_may_embed_it(
    world: Cast, open_page: OpenPage, width: int, dark: bool
) -> None:
    Store.objects.filter(pk=world.bakery.store.pk).update(
        name=UGLY, street="Straße " * 20, city=UGLY
    )
    page = signed_in(open_page, world, width, dark, "settings/store")
    judged(page, f"store-details-{width}")
    page.get_by_label("Country").select_option("DE")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_text("Store details saved.")).to_be_visible()
    page.goto(page.url.partition("/dashboard")[0] + "/dashboard/settings/embedding")
    shoot(page, f"embedding-empty-{width}")
    page.get_by_label("Allowed sites").fill("nonsense")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_text("Each line must be an origin")).to_be_visible()
    judged(page, f"embedding-refused-{width}")


@pytest.mark.parametrize(("width", "dark"), VIEWS)
def test_a_business_is_submitted_and_corrected(
    world: Cast, open_page: OpenPage, width: int, dark: bool
) -> None:
    page = open_page("/dashboard/verification", width=width, dark=dark, person=world.alice)
    fine_again(page)  # the form stands on the page of a rejection too
    shoot(page, f"verification-form-{width}")
    for label, text in (
        ("Legal name", UGLY * 2),
        ("Legal form", "GmbH"),
        ("Representative", "Alice Baker"),
        ("Street and number", "Hauptstraße 1"),
        ("City", "Berlin"),
        ("What you sell", "Bread " * 100),
    ):
        page.get_by_label(label).fill(text[:180])
    page.get_by_label("Country").select_option("DE")
    page.get_by_role("button", name="Submit for review").click()
    expect(page.get_by_text("Under review since")).to_be_visible()
    judged(page, f"verification-pending-{width}")
    made = Verification.objects.get(store=world.bakery.store, status="pending")
    reject_verification(made, f"{UGLY} isn't the name in the register ({clock.real_now():%Y})")
    page.reload()
    expect(page.get_by_text("We couldn’t verify your business.")).to_be_visible()
    judged(page, f"verification-rejected-{width}")
