"""The one search in a real browser: results while somebody types, by Enter without JavaScript, on a
phone and in the dark."""

import re
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.billing import records as billing
from tests.browser.conftest import OpenPage, put_on, shoot, turn_to
from tests.browser.looks import views
from tests.browser.test_dashboard import fine, fine_again
from tests.cast import Cast
from tests.make import paid, payment

UGLY = "Ωmega 👩‍👩‍👧 " + "Donaudampfschifffahrtsgesellschaftskapitän" * 4


def stocked(world: Cast) -> None:
    for number in range(7):
        payment(world.bakery.test, title=f"Coffee {number}", order_id=f"A-{number}")
    paid(world.bakery.test, title="Coffee beans, paid", amount="1250.40")
    billing.customer(world.bakery.test, email="coffee@example.com", name="Coffee Club مرحبا")
    payment(world.bakery.test, title=UGLY[:150])


def test_results_come_while_somebody_types(world: Cast, open_page: OpenPage) -> None:
    stocked(world)
    made = payment(world.bakery.live, title="Live rye")
    page = open_page("/dashboard/search", person=world.alice)
    fine(page)
    field = page.get_by_label("Search this store")
    expect(field).to_be_focused()
    page.keyboard.type("coff")
    expect(page.get_by_role("heading", name="Customers")).to_be_visible()
    expect(page.get_by_role("link", name="All results in payments")).to_be_visible()
    fine(page)
    shoot(page, "search")
    field.fill("Ωmega")
    expect(page.get_by_role("link", name=re.compile("^Ωmega"))).to_be_visible()
    fine_again(page)
    shoot(page, "search-ugly")
    field.fill("nothing like it")
    expect(page.get_by_role("heading", name="No results for")).to_be_visible()
    fine(page)
    field.fill("1,250.40")
    expect(page.get_by_role("link", name="Coffee beans, paid")).to_be_visible()
    page.get_by_role("link", name="Coffee beans, paid").click()
    expect(page).to_have_url(re.compile("/dashboard/payments/"))
    look_in_the_other_mode(page, made)


def look_in_the_other_mode(page: Page, made: dict[str, Any]) -> None:
    """On a phone and in the dark."""
    page.goto(f"{page.url.partition('/payments/')[0]}/search?q={made['id']}")
    expect(page.get_by_text("Found in live mode")).to_be_visible()
    for width, _ in views((390, True), (1920, True)):
        put_on(page, width=width, dark=True)
        turn_to(page, f"/dashboard/search?q={made['id']}")
        fine(page)
        shoot(page, f"search-other-mode-{width}")
        for typed in ("coffee", "Ωmega"):
            turn_to(page, f"/dashboard/search?q={typed}")
            fine_again(page)
            shoot(page, f"search-{typed}-{width}")
    page.reload()
    page.get_by_role("button", name="Switch to live mode").click()
    expect(page).to_have_url(re.compile(made["id"]))


@pytest.mark.whole  # in the suite without a browser in dashboard/test_search.py
def test_it_works_without_script(world: Cast, open_page: OpenPage) -> None:
    stocked(world)
    page = open_page("/dashboard/search", script=False, person=world.alice)
    page.get_by_label("Search this store").fill("coffee")
    page.get_by_role("main").get_by_role("button", name="Search").click()
    expect(page.get_by_role("link", name="All results in payments")).to_be_visible()
