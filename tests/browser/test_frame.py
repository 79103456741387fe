"""The frame of the dashboard in a real browser: everything in sight, menus, themes, the test clock;
wide, on a phone and in the dark."""

import re

import pytest
from playwright.sync_api import Page, expect

from apps.access.services import create_agent_credential
from apps.core.models import Mode
from apps.stores.models import Member, Role, Store
from apps.stores.services import change_store
from tests.browser.conftest import OpenPage, barriers, barriers_again, overflow, put_on, shoot
from tests.browser.looks import views
from tests.cast import Cast
from tests.make import advance, paid

COLORS = """() => [document.body, document.querySelector("h1"), document.querySelector("nav a")]
    .map((element) => getComputedStyle(element))
    .map((style) => [style.color, style.backgroundColor])"""
UGLY = "Café مقهى الحي 🥐 " + "Überlandstraßenbahnhaltestelle" * 3


def everything_on(world: Cast) -> None:
    change_store(world.bakery.store, is_platform=True)
    create_agent_credential(world.bakery.store, Mode.TEST, name="Buyer")


def test_the_side_bar_of_an_owner_with_everything_on_stands_whole_in_a_low_window(
    world: Cast, open_page: OpenPage
) -> None:
    """A long name of the store takes one line, and from it another store is opened."""
    everything_on(world)
    Store.objects.filter(pk=world.bakery.store.pk).update(name=UGLY[:90])
    Member.objects.create(
        store=world.strangers.store,
        user=world.alice,
        role=Role.VIEWER,
        created_at=world.bakery.store.created_at,
    )
    page = open_page("/dashboard/payouts", width=390, person=world.alice)
    menu = page.locator(".store-menu > summary")
    for width in (390, 1280):
        put_on(page, width=width, height=720)
        box = menu.bounding_box()
        assert box is not None and box["height"] < 48
        assert overflow(page) == 0
    links = page.locator(".side nav > a")
    expect(links).to_have_count(10)
    for link in links.all():
        expect(link).to_be_in_viewport(ratio=1)
    assert (
        page.evaluate(
            "(() => { const nav = document.querySelector('.side > nav'); return nav.scrollHeight -"
            " nav.clientHeight; })()"
        )
        == 0
    )
    assert page.evaluate("document.documentElement.scrollHeight") == 720, (
        "a short page doesn't scroll"
    )
    menu.click()
    expect(page.get_by_role("link", name="New store")).to_be_visible()
    page.get_by_role("button", name="Charlie's").click()
    expect(menu).to_contain_text("Charlie's")


def _looked_at(page: Page, name: str) -> None:
    shoot(page, f"frame-{name}")
    assert barriers(page) == [], name
    assert overflow(page) == 0, name


def test_home_fits_and_has_no_barrier_light_and_dark_wide_and_on_a_phone(
    world: Cast, open_page: OpenPage
) -> None:
    everything_on(world)
    paid(world.bakery.test, title=UGLY[:100], amount="99999.99")
    advance(world.bakery.test, 8 * 86_400)
    paid(world.bakery.test, amount="1.00")
    for width, dark in views((1280, False), (1280, True), (390, False), (390, True)):
        page = open_page("/dashboard/?range=7", width=width, dark=dark, person=world.alice)
        page.get_by_text("Show as table").click()
        plot = page.locator(".plot").bounding_box()
        assert plot is not None and plot["x"] + plot["width"] < width, (
            "the table doesn't push the plot out of its card"
        )
        _looked_at(page, f"home-{width}-{'dark' if dark else 'light'}")


@pytest.mark.whole  # in the suite in the owner's story
def test_a_new_store_fits_and_has_no_barrier(world: Cast, open_page: OpenPage) -> None:
    for width, _ in views((390, False), (1280, False)):
        page = open_page("/dashboard/", width=width, person=world.alice)
        expect(page.get_by_role("heading", name="Get ready to accept payments")).to_be_visible()
        _looked_at(page, f"new-{width}")


@pytest.mark.whole  # in the suite without a browser in dashboard/test_navigation.py
def test_a_person_chooses_the_dark_and_switches_the_mode_without_script(
    world: Cast, open_page: OpenPage
) -> None:
    page = open_page("/dashboard/team", script=False, person=world.alice)
    page.locator(".person-menu > summary").click()
    page.get_by_role("button", name="Dark", exact=True).click()
    expect(page.locator("html")).to_have_attribute("data-theme", "dark")
    expect(page).to_have_url(re.compile("/dashboard/team$"))
    page.get_by_role("button", name="Live", exact=True).click()
    expect(page.get_by_role("region", name="Live mode")).to_be_visible()


def test_a_theme_that_is_chosen_has_the_colors_of_a_system_that_prefers_it_and_no_barrier(
    world: Cast, open_page: OpenPage
) -> None:
    preferred = {}
    chosen = {}
    page = open_page("/dashboard/settings/features", person=world.alice)
    for theme, is_dark in (("Light", False), ("Dark", True)):
        put_on(page, dark=is_dark)
        preferred[theme] = page.evaluate(COLORS)
    for theme, is_dark in (("Dark", False), ("Light", True)):
        put_on(page, dark=is_dark)
        page.locator(".person-menu > summary").click()
        page.get_by_role("button", name=theme, exact=True).click()
        expect(page.locator("html")).to_have_attribute("data-theme", theme.lower())
        shoot(page, f"frame-theme-{theme.lower()}")
        assert overflow(page) == 0
        judge = barriers if theme == "Dark" else barriers_again  # light is what most pages are in
        assert judge(page) == []
        chosen[theme] = page.evaluate(COLORS)
    assert chosen == preferred and chosen["Light"] != chosen["Dark"]


def test_the_clock_is_moved_where_it_is_seen(world: Cast, open_page: OpenPage) -> None:
    advance(world.bakery.test, 3600)
    page = open_page("/dashboard/team", person=world.alice)
    expect(page.get_by_role("complementary", name="Test clock")).to_be_visible()
    _looked_at(page, "clock")
    clock = page.locator(".clock-menu > summary")
    clock.click()
    page.get_by_role("button", name="Advance 1 day", exact=True).click()
    expect(page).to_have_url(re.compile("/dashboard/team$"))
    assert Store.objects.get(pk=world.bakery.store.pk).test_offset_seconds == 3600 + 86_400
    Store.objects.filter(pk=world.bakery.store.pk).update(test_clock_target_seconds=10 * 86_400)
    page.goto(page.url.replace("team", "payments"))
    expect(clock).to_contain_text("Advancing…")
    Store.objects.filter(pk=world.bakery.store.pk).update(test_clock_target_seconds=None)
    page.evaluate("document.querySelector('#test-clock').dispatchEvent(new CustomEvent('refresh'))")
    expect(clock).not_to_contain_text("Advancing…")
    clock.click()
    page.get_by_role("link", name="Advance by another time", exact=True).click()
    expect(page.get_by_role("heading", name="Test clock", level=1)).to_be_visible()
    assert overflow(page) == 0
    shoot(page, "frame-clock-page")
