"""A merchant reads the books and makes a report in a real browser: wide, on a phone, in the dark
and without scripts."""

import csv
import re

from playwright.sync_api import Page, expect

from apps.reports.services.generate import generate_due
from tests.browser.conftest import OpenPage, shoot
from tests.browser.looks import seen
from tests.browser.test_dashboard import fine, fine_again
from tests.cast import Cast
from tests.make import paid

LOOKS: dict[str, dict[str, int]] = {
    "phone": {"width": 360},
    "dark": {"width": 1280, "dark": True},
    "wide": {"width": 1280},
}


def fine_everywhere(page: Page, name: str) -> None:
    for look, view in seen(LOOKS).items():
        page.set_viewport_size({"width": view["width"], "height": 800})
        page.emulate_media(color_scheme="dark" if "dark" in view else "light")
        fine(page)
        shoot(page, f"dashboard-{name}-{look}")


def test_a_report_is_made_while_one_looks_and_the_statement_is_filtered(
    world: Cast, open_page: OpenPage
) -> None:
    for amount in ("18.00", "36.00"):
        paid(world.bakery.test, amount=amount)
    page = open_page("/dashboard/reports", person=world.alice)
    page.wait_for_url("**/reports")
    page.get_by_role("button", name="Last month").click()
    expect(page.get_by_text("Generating", exact=True)).to_be_visible()
    generate_due()
    expect(page.get_by_text("Ready", exact=True)).to_be_visible(timeout=60_000)
    fine_everywhere(page, "reports")
    page.goto(page.url.replace("/reports", "/statement"))
    expect(page.get_by_role("row").filter(has_text="Payment settled")).to_have_count(2)
    fine_everywhere(page, "statement")
    page.get_by_label("Type").select_option(label="Refund sent")
    page.get_by_role("button", name="Apply").click()
    expect(page.get_by_text("No matching entries")).to_be_visible()
    fine_again(page)


def test_sales_in_four_currencies_have_one_total_in_the_books_currency(
    world: Cast, open_page: OpenPage
) -> None:
    """The file that is downloaded there has the same total; no coin is read at its full length."""
    for currency in ("EUR", "CHF", "JPY", "USD"):
        paid(world.bakery.test, amount="1300", currency=currency)
    page = open_page("/dashboard/statement", person=world.alice)
    figure = page.locator(".figure", has_text="Total in EUR").locator(".value")
    total = cents_of(figure.inner_text())
    rows = page.locator("#rows .listing tbody tr", has_text="Payment settled")
    expect(rows).to_have_count(4)
    values = [row.locator("td[data-label='Value']").inner_text() for row in rows.all()]
    assert [value for value in values if "€" not in value] == []
    assert sum(cents_of(value) for value in values) == total
    coins = re.findall(r"[\d.,]+(?=\s?ETH)", page.locator("main").inner_text())
    assert coins
    assert [coin for coin in coins if len(re.sub(r"\D", "", coin).lstrip("0")) > 6] == []
    fine_everywhere(page, "statement-currencies")
    with page.expect_download() as download:
        page.get_by_role("link", name="Export CSV").click()
    with download.value.path().open(encoding="utf-8-sig") as file:
        lines = list(csv.DictReader(file))
    assert {line["book_currency"] for line in lines} == {"EUR"}
    assert {line["currency"] for line in lines} == {"EUR", "CHF", "JPY", "USD"}
    assert sum(round(100 * float(line["book_value"])) for line in lines) == total


def cents_of(text: str) -> int:
    found = re.search(r"€([\d,]+\.\d\d)", text)
    assert found is not None, text
    return round(100 * float(found[1].replace(",", "")))


def test_reports_work_without_scripts(world: Cast, open_page: OpenPage) -> None:
    page = open_page("/dashboard/reports", script=False, person=world.alice)
    page.wait_for_url("**/reports")
    page.get_by_role("button", name="Create report").click()
    generate_due()
    page.get_by_role("link", name="Refresh").click()
    expect(page.get_by_role("link", name="Download")).to_be_visible()
