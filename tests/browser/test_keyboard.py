"""By keyboard alone from signing in through the search to a refund, in at most 40 stops of the
focus."""

import re

from playwright.sync_api import Page, expect

from apps.access.factors import second_factor
from apps.core.redis import buckets
from apps.payments.models import Refund
from tests.browser.conftest import OpenPage
from tests.cast import PASSWORD, Cast
from tests.dashboard.browse import next_code
from tests.make import paid

STOPS_MAX = 40
FOCUSED = """() => {
    const at = document.activeElement;
    return at === document.body ? "" : `${at.id}|${at.name ?? ""}|${at.textContent.trim()}`;
}"""
OUTLINED = """() => {
    const style = getComputedStyle(document.activeElement);
    return style.outlineStyle !== "none" && parseFloat(style.outlineWidth) >= 2;
}"""


class Keyboard:
    """A person without a mouse, who counts the stops."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.stops = 0

    def tab_to(self, words: str) -> None:
        for _ in range(STOPS_MAX):
            if re.search(words, self.at):
                return
            self.page.keyboard.press("Tab")
            self.stops += 1
            assert self.page.evaluate(OUTLINED), self.at
        raise AssertionError(f"{words} isn't reached: {self.at}")

    @property
    def at(self) -> str:
        return str(self.page.evaluate(FOCUSED))

    def type(self, text: str) -> None:
        self.page.keyboard.type(text)

    def enter(self) -> None:
        self.page.keyboard.press("Enter")


def test_a_refund_is_reached_by_keyboard_alone(world: Cast, open_page: OpenPage) -> None:
    second_factor.switch_on(world.alice, "JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP")
    made = paid(world.bakery.test, title="Rye bread, sliced", amount="12.50")
    paid(world.bakery.test, title="Rye rolls", amount="3.50")
    page = open_page("/dashboard/")
    keys = Keyboard(page)

    expect(page.get_by_label("Email")).to_be_focused()
    keys.type(world.alice.email)
    keys.tab_to(r"\|password\|")
    keys.type(PASSWORD)
    keys.enter()
    expect(page.get_by_label(re.compile("^Code"))).to_be_focused()
    keys.type(next_code(world.alice))
    keys.enter()

    expect(page.get_by_role("heading", name="Home", level=1)).to_be_visible()
    page.wait_for_load_state("networkidle")  # the script that listens for the key is there
    keys.page.keyboard.press("/")
    expect(page.get_by_label("Search everything")).to_be_focused()
    keys.type("Rye")
    keys.enter()
    expect(page.locator(".hits .row-link").first).to_be_focused()
    keys.tab_to("Rye bread, sliced")
    keys.enter()

    expect(page.get_by_text(made["reference"]).first).to_be_visible()
    keys.tab_to("Skip to")
    keys.enter()
    keys.tab_to("^[^|]*[|][^|]*[|]Refund")
    keys.enter()
    expect(page.get_by_label(re.compile(r"^\s*Amount optional"))).to_be_focused()
    keys.enter()

    expect(page.get_by_role("heading", name="Confirm refund", level=1)).to_be_visible()
    expect(page.get_by_label("Code from your authenticator app")).to_be_focused()
    buckets.client().flushdb()
    keys.type(next_code(world.alice))
    keys.enter()
    expect(page.get_by_text("Refund").first).to_be_visible()
    page.wait_for_url(re.compile(f"/payments/{made['id']}$"))
    assert Refund.objects.filter(payment=made["id"]).exists()
    assert keys.stops <= STOPS_MAX, keys.stops
    print(f"{keys.stops} stops")
