"""The front page in a real browser: it fits, has no barrier, asks nothing of others
and is light."""

from typing import Any

from playwright.sync_api import expect

from tests.browser.conftest import OpenPage, barriers, overflow, put_on, shoot
from tests.cast import Cast

BYTES_MAX = 60 * 1024


def test_strangers_see_a_light_page_that_fits_in_every_look(
    world: Cast, open_page: OpenPage, settings: Any
) -> None:
    asked = []
    page = open_page("/dashboard/sign-in", script=False)
    page.on("response", lambda answer: asked.append((answer.url, len(answer.body()))))
    own = page.url.partition("/dashboard")[0]
    for width, dark in ((1280, False), (1920, True), (390, False), (390, True)):
        put_on(page, width=width, dark=dark)
        page.goto(f"{own}/")
        expect(page.get_by_role("heading", level=1)).to_contain_text("Accept crypto payments")
        assert overflow(page) == 0
        shoot(page, f"front-{width}-{'dark' if dark else 'light'}")
    assert all(url.startswith((own, "data:")) for url, _ in asked)
    assert sum(dict(asked).values()) < BYTES_MAX
    page.get_by_role("link", name="Create an account").click()
    expect(page).to_have_url(f"{own}/dashboard/sign-up")


def test_an_operators_name_as_long_as_it_may_be_fits_and_nothing_is_a_barrier(
    world: Cast, open_page: OpenPage, settings: Any
) -> None:
    settings.OPERATOR_NAME = "Nordwind Zahlungsverkehrsabwicklungsgesellschaft مقهى الحي mbH"
    settings.OPERATOR_URL = "https://nordwind.example"
    settings.SIGN_UP = "invitation"
    page = open_page("/", width=390, dark=True)
    for width, dark in ((390, True), (1280, False)):
        put_on(page, width=width, dark=dark)
        assert overflow(page) == 0
        assert barriers(page) == []
    expect(page.get_by_text("by invitation")).to_be_visible()
