"""A merchant reads the books and makes a report in a real browser: wide, on a phone, in the dark
and without scripts."""

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
    expect(page.get_by_text("Ready", exact=True)).to_be_visible(timeout=20_000)
    fine_everywhere(page, "reports")
    page.goto(page.url.replace("/reports", "/statement"))
    expect(page.get_by_role("row").filter(has_text="Payment settled")).to_have_count(2)
    fine_everywhere(page, "statement")
    page.get_by_label("Type").select_option(label="Refund sent")
    page.get_by_role("button", name="Apply").click()
    expect(page.get_by_text("No matching entries")).to_be_visible()
    fine_again(page)


def test_reports_work_without_scripts(world: Cast, open_page: OpenPage) -> None:
    page = open_page("/dashboard/reports", script=False, person=world.alice)
    page.wait_for_url("**/reports")
    page.get_by_role("button", name="Create report").click()
    generate_due()
    page.get_by_role("link", name="Refresh").click()
    expect(page.get_by_role("link", name="Download")).to_be_visible()
