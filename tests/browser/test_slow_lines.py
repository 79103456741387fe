"""A page on which somebody pays doesn't move under their finger, however slowly it comes."""

import time
from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Page, Route

from tests import make
from tests.browser.conftest import OpenPage
from tests.browser.test_checkout import SHIFTS
from tests.browser.trickling import PAUSE_SECONDS, Trickling
from tests.cast import Cast

# What an extension of the browser may do at any time: elements then have styles before all sheets
# are there.
MEASURING = "setInterval(() => document.body?.offsetHeight, 10);"
LATE_SECONDS = 1.0


@pytest.fixture
def trickling(server: str) -> Iterator[Trickling]:
    before = Trickling(server)
    yield before
    before.close()


@pytest.fixture(params=["phone", pytest.param("desk", marks=pytest.mark.whole)])
def size(request: pytest.FixtureRequest) -> dict[str, int]:
    sizes = {"phone": {"width": 390, "height": 660}, "desk": {"width": 1280, "height": 900}}
    return sizes[request.param]


def shown(page: Page, url: str) -> Any:
    """Distance that the parts of a page have moved in all until nothing moves any more."""
    page.goto(url)
    page.wait_for_load_state("networkidle")
    page.wait_for_timeout(300)
    return page.evaluate("window.shifted")


def test_a_checkout_that_comes_bit_by_bit_is_shown_whole(
    world: Cast, trickling: Trickling, open_page: OpenPage, size: dict[str, int]
) -> None:
    made = make.payment(world.bakery.live, title="Saturday basket")
    page = open_page("/healthz", **size)
    page.add_init_script(SHIFTS)
    assert shown(page, f"{trickling.url}/pay/{made['reference']}") == 0
    [took_ms] = page.evaluate(
        "performance.getEntriesByType('navigation').map(of => of.responseEnd - of.responseStart)"
    )
    assert took_ms > 5 * PAUSE_SECONDS * 1000, "it came in pieces"


def test_a_style_sheet_that_comes_late_moves_nothing(
    world: Cast, server: str, open_page: OpenPage, size: dict[str, int]
) -> None:
    made = make.payment(world.bakery.live, title="Saturday basket")
    page = open_page("/healthz", **size)
    page.add_init_script(SHIFTS + MEASURING)

    def late(route: Route) -> None:
        time.sleep(LATE_SECONDS)
        route.continue_()

    page.route("**/page.css", late)
    assert shown(page, f"{server}/pay/{made['reference']}") == 0
