"""The documentation in a real browser: tabs with and without a script, the search, a key of one's
own; wide, on a phone and in the dark."""

import re
from typing import Any

import pytest
from playwright.sync_api import expect

from apps.docs.site import site
from tests.browser.conftest import OpenPage, barriers, overflow, put_on, shoot, turn_to
from tests.browser.judging import TURNED_TO
from tests.browser.looks import seen
from tests.browser.test_dashboard import fine

LOOKS: dict[str, dict[str, Any]] = {
    f"{width}-{scheme}": {"width": width, "dark": scheme == "dark"}
    for width in (390, 1280)
    for scheme in ("light", "dark")
}
PAGES = ("/docs", "/docs/quickstart", "/docs/errors", "/docs/reference/payments")


def test_pages_of_each_kind_have_no_barriers_and_fit(open_page: OpenPage) -> None:
    page = open_page("/docs", width=390)
    for path in PAGES:
        turn_to(page, path)
        for look, view in seen(LOOKS).items():
            put_on(page, **view)
            fine(page)
            shoot(page, f"{path.strip('/').replace('/', '-')}-{look}")


@pytest.mark.whole  # one template draws them all; above is one of each kind
def test_no_page_of_the_documentation_has_a_barrier_or_is_too_wide(open_page: OpenPage) -> None:
    page = open_page("/docs", width=390, dark=True)
    wrong = []
    for link in [link for menu in site().menu for link in menu.links]:
        status, _ = page.evaluate(TURNED_TO, f"/docs/{link.slug}")
        found = [*barriers(page), *([f"{status}"] if status != 200 else [])]
        found += [f"{overflow(page)} px too wide"] if overflow(page) > 0 else []
        wrong += [f"{link.slug}: {told}" for told in found]
    assert wrong == [], "\n".join(wrong)


def test_tabs_work_without_a_script_and_with_one_are_chosen_for_the_whole_page(
    open_page: OpenPage,
) -> None:
    plain = open_page("/docs/quickstart", script=False)
    sample = plain.locator(".code-tabs").nth(1)
    expect(sample.get_by_text("payment = tillgate.post(")).not_to_be_visible()
    sample.get_by_text("Python", exact=True).click()
    expect(sample.get_by_text("payment = tillgate.post(")).to_be_visible()

    page = open_page("/docs/quickstart")
    page.locator(".code-tabs").nth(1).get_by_text("PHP", exact=True).click()
    expect(page.locator(".code-tabs").nth(2).locator("input:checked")).to_have_value("PHP")
    page.reload()
    expect(page.locator(".code-tabs").first.locator("input:checked")).to_have_value("PHP")


def test_the_search_finds_while_one_types_and_without_a_script(open_page: OpenPage) -> None:
    page = open_page("/docs")
    page.get_by_role("searchbox").press_sequentially("create a pay")
    hit = page.locator(".docs-hits").get_by_role("link", name="Create a payment", exact=False).first
    expect(hit).to_be_visible()
    fine(page)
    hit.click()
    expect(page).to_have_url(re.compile("/docs/"))

    page.goto(page.url.partition("/docs/")[0] + "/docs")
    page.get_by_role("searchbox").press_sequentially("refund webhook")
    hits = page.locator(".docs-hits").get_by_role("link")
    expect(hits.first).to_have_text(re.compile("webhook|refund", re.I))
    assert hits.count() >= 3

    plain = open_page("/docs", script=False)
    plain.get_by_role("searchbox").fill("mandate_required")
    plain.get_by_role("searchbox").press("Enter")
    expect(plain.get_by_role("main").get_by_role("link").first).to_be_visible()


def test_a_test_key_is_put_into_the_examples_and_a_live_one_is_not(open_page: OpenPage) -> None:
    page = open_page("/docs/quickstart", width=390)
    page.get_by_label("Your test key").fill("svc_sk_live_0123456789")
    expect(page.locator("[data-key]").first).to_have_text("svc_sk_test_YOUR_KEY")
    page.get_by_label("Your test key").fill("svc_sk_test_0123456789")
    expect(page.locator("[data-key]").first).to_have_text("svc_sk_test_0123456789")
    page.goto(page.url.replace("quickstart", "reference/refunds"))
    expect(page.locator("[data-key]").first).to_have_text("svc_sk_test_0123456789")
