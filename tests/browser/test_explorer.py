"""The API explorer in a real browser: no barrier in any of its states, nothing wider than a phone,
and a call that is tried is answered."""

import json
import re
from collections.abc import Sequence
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, Route, expect

from tests.browser.conftest import OpenPage, barriers, overflow, shoot
from tests.whole import IS_WHOLE

LOOKS: dict[str, dict[str, Any]] = {
    "wide": {"bypass_csp": True},
    "dark": {"dark": True, "bypass_csp": True},
    "phone": {"width": 390, "height": 844, "dark": True, "bypass_csp": True},
}


OPENED = ("get_agentic_balances", "post_agentic_mandates")
# Operations are judged with the first state that shows them.
EVERY = (".opblock",)
CLOSED = (".opblock:not(.is-open)",)
REFERENCE = re.compile(r'"#/components/(\w+)/([^"]+)"')


def of_each_kind(paths: dict[str, dict[str, Any]]) -> dict[str, dict[str, Any]]:
    """All that looks different: the first path of each method, the three longest, which are the
    widest, and those of the operations that are opened."""
    chosen = set(sorted(paths, key=len)[-3:])
    seen = set[str]()
    for path, methods in paths.items():
        is_opened = any(operation["operationId"] in OPENED for operation in methods.values())
        if is_opened or methods.keys() - seen:
            chosen.add(path)
        seen |= methods.keys()
    return {path: methods for path, methods in paths.items() if path in chosen}


def components_of(document: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """Those that its paths lead to. Swagger UI goes through all that there are for each operation
    that is opened."""
    every = document["components"]
    kept = {kind: every[kind] if kind == "securitySchemes" else {} for kind in every}
    waiting: list[Any] = [document["paths"]]
    while waiting:
        for kind, name in REFERENCE.findall(json.dumps(waiting.pop())):
            if name not in kept[kind]:
                kept[kind] = {**kept[kind], name: every[kind][name]}
                waiting.append(every[kind][name])
    return kept


def explorer(open_page: OpenPage, look: dict[str, Any]) -> Page:
    """Its calls go to the server of the tests, which the description doesn't name. To show every
    operation takes Swagger UI ten seconds of the processor's time: the suite shows one of each
    kind."""
    page = open_page("/healthz", **look)
    origin = page.url.removesuffix("/healthz")

    def describe(route: Route) -> None:
        answer = route.fetch()
        document = answer.json() | {"servers": [{"url": origin}]}
        if not IS_WHOLE:
            document["paths"] = of_each_kind(document["paths"])
            document["components"] = components_of(document)
        route.fulfill(response=answer, json=document)

    page.route("**/openapi.json", describe)
    page.goto(f"{origin}/docs/try")
    return page


def opened(page: Page, name: str) -> Locator:
    """An operation that is to be tried."""
    operation = page.locator(f"#operations-agents-{name}")
    operation.locator(".opblock-summary-control").click()
    # While Swagger UI still resolves the operation it forgets that the button was pressed.
    cancel = operation.locator(".try-out__btn.cancel")
    while not cancel.is_visible():
        operation.locator(".try-out__btn:not(.cancel)").click()
        page.wait_for_timeout(500)
    return operation


def found(page: Page, state: str, besides: Sequence[str] = ()) -> list[str]:
    shoot(page, f"explorer-{page.viewport_size['width'] if page.viewport_size else ''}-{state}")
    wide = overflow(page)
    return [f"{state}: {line}" for line in barriers(page, besides)] + (
        [f"{state}: {wide} px too wide"] if wide > 0 else []
    )


@pytest.mark.parametrize("look", LOOKS)
def test_the_explorer_is_no_barrier_and_a_call_is_answered(open_page: OpenPage, look: str) -> None:
    page = explorer(open_page, LOOKS[look])
    expect(page.locator(f"#operations-agents-{OPENED[0]}")).to_be_visible()
    complaints = found(page, "closed")

    operation = opened(page, OPENED[0])
    expect(page).to_have_url(page.url.partition("#")[0] + f"#/agents/{OPENED[0]}")
    expect(operation.locator("table.parameters input").first).to_be_visible()
    operation.locator(".execute").click()
    answer = operation.locator(".live-responses-table")
    expect(answer).to_contain_text("Agent credential required")
    complaints += found(page, "answered", CLOSED)
    operation.locator(".opblock-summary-control").click()

    operation = opened(page, OPENED[1])
    expect(operation.get_by_label("Request body")).to_be_visible()
    complaints += found(page, "body", CLOSED)

    page.locator(".scheme-container .authorize").first.click()
    expect(page.get_by_role("button", name="Close", exact=True).first).to_be_visible()
    complaints += found(page, "authorize", EVERY)
    assert complaints == []
