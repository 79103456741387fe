"""How much of a window the frame of the dashboard takes before a page begins: banner, bar, clock
and tabs together at most 96 px on a desk and 120 px on a phone, on every page and in both modes."""

import re

from playwright.sync_api import Page, expect

from apps.dashboard.urls import PAGES
from apps.stores.models import Store
from tests.browser.conftest import OpenPage, barriers, overflow, put_on, shoot, turn_to
from tests.browser.judging import TURNED_TO
from tests.browser.stories import begin
from tests.browser.test_every_page import NOT_PAGES, ON_THE_WAY, STEPS
from tests.cast import Cast
from tests.dashboard.test_pages import Records, path_of
from tests.make import advance, fresh_address, store_coins
from tests.stage import empty_buckets

HEIGHTS = {390: 120, 1280: 96, 1920: 96}
# Where a page begins, of pages that have the frame.
TOP_OF_MAIN = """() => document.querySelector("header.head")
    && document.querySelector("main").getBoundingClientRect().top + scrollY"""
LOWER_CASE = re.compile(r"\bMode:? (?:test|live)\b")
UGLY = "Café مقهى الحي 🥐 Überlandstraßenbahnhaltestelle am Ende der langen Straße"


def too_tall(page: Page, path: str) -> list[str]:
    """One line for each width at which more than is allowed is above the page."""
    empty_buckets()
    page.evaluate(TURNED_TO, path)
    found = []
    for width, most in HEIGHTS.items():
        put_on(page, width=width)
        top = page.evaluate(TOP_OF_MAIN)
        if top is not None and top > most:
            found.append(f"{path} begins at {top} px of a window that is {width} px wide")
        if (wide := overflow(page)) > 0:
            found.append(f"{path} is {wide} px too wide at {width}")
    return found


def paths_of(records: Records, *, has_records: bool) -> list[str]:
    pages = [
        page
        for page in PAGES
        if "GET" in page.methods
        and not NOT_PAGES.search(page.path)
        and page.name not in STEPS | ON_THE_WAY
        and "<str:token>" not in page.path
        and (has_records or "<" not in page.path)
    ]
    return [f"/dashboard/{path_of(page, records)}" for page in pages]


def test_no_page_begins_lower_than_96_pixels_on_a_desk_and_120_on_a_phone(
    world: Cast, open_page: OpenPage
) -> None:
    Store.objects.filter(pk=world.bakery.store.pk).update(name=UGLY[:90])
    records = Records(world)
    with_records = paths_of(records, has_records=True)
    advance(world.bakery.test, 3600)
    teller = begin(open_page, "chrome", world.alice, width=390)
    page = teller.page
    page.evaluate("document.documentElement.style.setProperty('scroll-behavior', 'auto')")
    assert page.evaluate(TOP_OF_MAIN) is not None
    wrong = [line for path in with_records for line in too_tall(page, path)]
    put_on(page, width=390)
    page.goto(page.url)
    page.get_by_role("button", name="Live", exact=True).click()
    expect(page.get_by_role("region", name="Live mode")).to_be_visible()
    wrong += [
        line for path in paths_of(records, has_records=False) for line in too_tall(page, path)
    ]
    Store.objects.filter(pk=world.bakery.store.pk).update(test_clock_target_seconds=10 * 86_400)
    put_on(page, width=390)
    page.goto(page.url)
    page.get_by_role("button", name="Test", exact=True).click()
    expect(page.get_by_role("region", name="Test mode")).to_be_visible()
    wrong += too_tall(page, "/dashboard/payments")
    assert wrong == [], "\n".join(wrong)


def test_no_label_is_followed_by_the_mode_as_programs_write_it(
    world: Cast, open_page: OpenPage
) -> None:
    """Neither where a payout is reviewed nor where the mode is said beside keys and endpoints."""
    store_coins(world.bakery.store, "SETH", 10**18)
    page = begin(open_page, "mode", world.alice, "payouts/new").page
    page.get_by_label("Amount", exact=True).fill("0.1")
    page.locator("#destination_address").fill(fresh_address())
    page.get_by_role("button", name="Review payout").click()
    mode = page.locator(".facts div", has=page.get_by_text("Mode", exact=True))
    expect(mode.locator("dd")).to_have_text("Test")
    wrong = [page.url] if LOWER_CASE.search(words_of(page)) else []
    for path in (
        "",
        "payments",
        "api-keys",
        "webhooks",
        "agents",
        "events",
        "requests",
        "settings",
    ):
        turn_to(page, f"/dashboard/{path}")
        wrong += [path] if LOWER_CASE.search(words_of(page)) else []
    assert wrong == []


def words_of(page: Page) -> str:
    return " ".join(page.locator("body").inner_text().split())


def test_mode_and_clock_stand_in_the_one_bar_and_work_without_script(
    world: Cast, open_page: OpenPage
) -> None:
    """The mode is in words, in color and pressed; the clock opens by itself."""
    advance(world.bakery.test, 3600)
    for width in (390, 1280):
        page = open_page("/dashboard/team", width=width, person=world.alice, script=False)
        page.keyboard.press("Tab")
        expect(page.get_by_role("link", name="Skip to content")).to_be_focused()
        mode = page.get_by_role("region", name="Test mode")
        expect(mode.get_by_text("Test mode", exact=True)).to_be_visible()
        expect(page.get_by_role("button", name="Test", exact=True)).to_have_attribute(
            "aria-pressed", "true"
        )
        clock = page.get_by_role("complementary", name="Test clock")
        clock.locator("summary").click()
        expect(clock.get_by_text("Real time")).to_be_visible()
        page.get_by_role("button", name="Advance 1 hour", exact=True).click()
        expect(page).to_have_url(re.compile("/dashboard/team$"))
    assert Store.objects.get(pk=world.bakery.store.pk).test_offset_seconds == 3 * 3600


def test_the_bar_with_its_menus_open_fits_and_has_no_barrier(
    world: Cast, open_page: OpenPage
) -> None:
    Store.objects.filter(pk=world.bakery.store.pk).update(name=UGLY[:90])
    advance(world.bakery.test, 3600)
    page = open_page("/dashboard/team", width=390, dark=True, person=world.alice)
    for width, dark in ((390, True), (768, False), (1280, True), (1920, False)):
        put_on(page, width=width, dark=dark)
        page.goto(page.url)
        summaries = page.locator(".head summary:visible")
        for number in range(summaries.count()):
            summaries.nth(number).click()
            assert overflow(page) == 0
            panel = page.locator(".head details[open] > :not(summary)").bounding_box()
            assert panel is not None and panel["x"] >= 0 and panel["x"] + panel["width"] <= width
            shoot(page, f"chrome-{width}-{number}")
            summaries.nth(number).click()
        words = page.locator(".mode-bar strong").bounding_box()
        assert words is not None and words["height"] < 24, "on one line"
        cut = "all => all.some(one => one.scrollWidth > one.clientWidth)"
        assert not page.locator(".mode-bar > p").evaluate_all(cut)
        assert barriers(page) == []


def test_a_phone_searches_from_the_bar(world: Cast, open_page: OpenPage) -> None:
    page = open_page("/dashboard/team", width=390, person=world.alice, script=False)
    page.get_by_role("link", name="Search", exact=True).click()
    expect(page.get_by_label("Search this store")).to_be_visible()


def test_a_field_that_the_browser_jumps_to_has_its_label_in_sight(
    world: Cast, open_page: OpenPage
) -> None:
    for width in (390, 1280):
        page = open_page(
            "/dashboard/payment-links/new", width=width, height=420, person=world.alice
        )
        page.locator("main form.form button.primary").last.click()
        page.wait_for_function("document.activeElement.matches('input:invalid')")
        label = page.locator(f"label[for={page.evaluate('document.activeElement.id')}]")
        head = page.locator(".head").bounding_box()
        box = label.bounding_box()
        assert head is not None and box is not None
        assert head["height"] <= box["y"] < 420, (head, box)


def test_a_phone_has_one_row_of_tabs_above_store_settings(world: Cast, open_page: OpenPage) -> None:
    page = open_page("/dashboard/settings", width=390, person=world.alice, script=False)
    assert page.locator(":is(.tabs, .section-tabs, .pills):visible").count() == 1
    page.locator(".folded-tabs > summary").click()
    page.get_by_role("link", name="Branding", exact=True).click()
    expect(page).to_have_url(re.compile("/settings/branding$"))
