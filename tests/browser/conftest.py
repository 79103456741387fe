"""A real server on the test database and a real Chromium. What these tests make is committed: each
makes its own stores.

They run after the tests that roll back, and skip loudly on a machine without Chromium.
"""

import os
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from django.db import connection
from playwright.sync_api import Browser, BrowserContext, Page, expect, sync_playwright

from apps.stores.models import User
from dev import machine
from tests.browser import looks
from tests.browser.judging import (
    AXE,
    AXE_ADDRESS,
    FLAGS,
    JUDGED,
    LOADED,
    OVERFLOW,
    TURNED_TO,
    WCAG,
    left_out_flags,
)
from tests.browser.serving import Server, ServerThread
from tests.browser.signing_in import cookies_of
from tests.cast import Cast, assemble
from tests.whole import IS_WHOLE

CHROMIUM = machine.chromium()
SCREENSHOTS = Path(__file__).resolve().parents[2] / "var" / "screenshots"


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    mine = [item for item in items if item.path.is_relative_to(Path(__file__).parent)]
    for item in mine:
        item.add_marker(pytest.mark.browser)
        item.add_marker(pytest.mark.django_db(transaction=True))
    left_out = set(
        looks.left_out((item.nodeid.partition("[")[0], parameters_of(item), item) for item in mine)
    )
    if left_out:
        config.hook.pytest_deselected(items=list(left_out))
        items[:] = [item for item in items if item not in left_out]


def parameters_of(item: pytest.Item) -> dict[str, Any]:
    call = getattr(item, "callspec", None)
    return call.params if call is not None else {}


@pytest.fixture
def _django_db_helper(django_db_setup: None, django_db_blocker: Any) -> Iterator[None]:
    """Instead of pytest-django's: the ledger refuses the truncation that would follow each test."""
    with django_db_blocker.unblock():
        yield


@pytest.fixture(scope="session")
def server(django_db_setup: None, django_db_blocker: Any) -> Iterator[str]:
    """The address of the product, serving its own static files."""
    with django_db_blocker.unblock():
        thread = ServerThread("127.0.0.1", Server)
        thread.daemon = True
        thread.start()
        thread.is_ready.wait()
        if thread.error:
            raise thread.error
        yield f"http://127.0.0.1:{thread.port}"
        thread.terminate()
        # A look that was under way when its page was closed would keep the test database from being
        # dropped.
        with connection.cursor() as cursor:
            cursor.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname ="
                " current_database() AND pid <> pg_backend_pid()"
            )


@pytest.fixture(scope="session")
def chromium() -> Iterator[Browser]:
    if CHROMIUM is None:
        pytest.skip("NO BROWSER TEST RUNS: Chromium is not installed")
    # Playwright keeps an event loop in this thread, in which the ORM would refuse to work.
    os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"] = "true"
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=CHROMIUM, args=FLAGS, ignore_default_args=left_out_flags()
        )
        yield browser
        browser.close()


@pytest.fixture
def world(server: str, chromium: Browser) -> Cast:
    """The cast, committed, so that the server sees it."""
    return assemble()


# What takes milliseconds on a machine of its own takes seconds beside a full load; only a test that
# fails waits so long.
PATIENCE_MS = 30_000
expect.set_options(timeout=PATIENCE_MS)

OpenPage = Callable[..., Page]


class Profiles:
    """Browser profiles by their options. One that a test is done with is emptied for the next: to
    start one takes three times what a page takes."""

    def __init__(self, browser: Browser) -> None:
        self._browser = browser
        self._free: dict[str, list[BrowserContext]] = {}
        self._options_of: dict[BrowserContext, str] = {}
        # It keeps the process that draws the pages of its profile.
        self._empty_page_of: dict[BrowserContext, Page] = {}
        self._kept_before: dict[BrowserContext, int] = {}

    def take(self, options: dict[str, Any]) -> BrowserContext:
        key = repr(sorted(options.items()))
        if free := self._free.get(key):
            self._kept_before[free[-1]] = Server.kept_answers
            return free.pop()
        profile = self._browser.new_context(**options)
        self._kept_before[profile] = Server.kept_answers
        self._empty_page_of[profile] = profile.new_page()
        self._options_of[profile] = key
        return profile

    def give_back(self, profile: BrowserContext) -> None:
        """Nobody is signed in there, nothing is stored or allowed, no page is open, and none but
        static files is cached."""
        if Server.kept_answers != self._kept_before[profile]:
            _devtools(self._empty_page_of[profile], "Network.clearBrowserCache")
        for page in profile.pages:
            if page is not self._empty_page_of[profile]:
                _forget_storage(page)
                page.close()
        profile.clear_cookies()
        profile.clear_permissions()
        self._free.setdefault(self._options_of[profile], []).append(profile)


@pytest.fixture(scope="session")
def profiles(chromium: Browser) -> Profiles:
    return Profiles(chromium)


@pytest.fixture
def open_page(server: str, profiles: Profiles) -> Iterator[OpenPage]:
    """Open a path in a browser profile of its own, in which the person has signed in; at the end no
    page may have complained, of its policy least of all."""
    taken = []
    complaints = []

    def note(message: Any) -> None:
        if message.type == "error" and "status of 4" not in message.text:
            complaints.append(message.text)

    def open_path(
        path: str,
        *,
        width: int = 1280,
        height: int = 900,
        dark: bool = False,
        script: bool = True,
        person: User | None = None,
        **options: Any,
    ) -> Page:
        profile = profiles.take(options)
        taken.append(profile)
        if script:
            profile.grant_permissions(["clipboard-read", "clipboard-write"], origin=server)
        if person is not None:
            profile.add_cookies(cookies_of(person, server))
        page = profile.new_page()
        page.set_default_timeout(PATIENCE_MS)
        put_on(page, width=width, height=height, dark=dark)
        if width < 600:
            _devtools(page, "Emulation.setTouchEmulationEnabled", {"enabled": True})
        if not script:
            _devtools(page, "Emulation.setScriptExecutionDisabled", {"value": True})
        page.on("console", note)
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.goto(path if path.startswith("http") else server + path)
        return page

    yield open_path
    for profile in taken:
        profiles.give_back(profile)
    assert complaints == []


def _forget_storage(page: Page) -> None:
    """Clear what a page keeps beyond cookies, of the address that it is at."""
    stored = {"origin": page.url, "storageTypes": "local_storage"}
    _devtools(page, "Storage.clearDataForOrigin", stored)


def _devtools(page: Page, command: str, options: dict[str, Any] | None = None) -> None:
    page.context.new_cdp_session(page).send(command, options)


def put_on(page: Page, *, width: int = 1280, height: int = 900, dark: bool = False) -> None:
    """The page's look, from now on."""
    page.set_viewport_size({"width": width, "height": height})
    # Colors are judged at rest.
    page.emulate_media(color_scheme="dark" if dark else "light", reduced_motion="reduce")


def shoot(page: Page, name: str) -> None:
    """Keep a picture of the whole page, where somebody asked for pictures to look at."""
    if not os.environ.get("TEST_PICTURES"):
        return
    SCREENSHOTS.mkdir(parents=True, exist_ok=True)
    page.screenshot(path=SCREENSHOTS / f"{name}.png", full_page=True)


def arrived(page: Page) -> None:
    """Wait for the page that a click asked for: when the click returns, its document may not have a
    root yet."""
    page.wait_for_load_state()


def turn_to(page: Page, path: str) -> None:
    """Show what is there in the page that is open, which takes half of what it takes to load it.
    What scripts add isn't."""
    status, address = page.evaluate(TURNED_TO, path)
    assert (status, address) == (200, path.partition("?")[0])


def barriers(page: Page, besides: Sequence[str] = ()) -> list[str]:
    """Findings of axe against WCAG 2.2 AA and good practice: rule, elements. `besides` are
    selectors of what it has judged already."""
    arrived(page)
    if not page.evaluate(LOADED, AXE_ADDRESS):
        page.evaluate(AXE)  # another server's
    found = page.evaluate(JUDGED, {"tags": WCAG, "besides": list(besides)})
    return [
        f"{item['id']}:"
        f" {[(node['target'], node['failureSummary'][:160]) for node in item['nodes'][:3]]}"
        for item in found
    ]


def barriers_again(page: Page) -> list[str]:
    """Of a page whose parts another test of the suite judges: asked by the whole suite alone."""
    return barriers(page) if IS_WHOLE else []


def overflow(page: Page) -> int:
    """How many pixels the page, or a part of it that must not scroll, is too wide."""
    arrived(page)
    width: int = page.evaluate(OVERFLOW)
    return width
