"""One fact has one figure wherever it is shown, in a real browser: amounts, counts, due days and
the edges of days; and when a checkout was opened."""

import csv
import io
import re
from datetime import timedelta
from typing import Any
from zoneinfo import ZoneInfo

from django.core.files.storage import storages
from playwright.sync_api import Page, expect

from apps.reports.models import Report
from apps.reports.services.generate import generate_due
from apps.stores.models import Store
from tests import make
from tests.billing import records as billing
from tests.browser.conftest import OpenPage
from tests.cast import Cast
from tests.dashboard.attention.makers import late
from tests.dashboard.browse import Browser
from tests.dashboard.test_reports import ask
from tests.payments.test_progress import HALF_CENT

TOKYO = {"timezone_id": "Asia/Tokyo"}


def words(page: Page) -> str:
    return " ".join(page.locator("main").inner_text().split())


def read(page: Page, path: str) -> str:
    page.goto(page.url.split("/dashboard")[0].split("/pay/")[0] + path)
    return words(page)


def test_what_came_what_is_left_and_what_is_over_are_the_same_on_every_page(
    world: Cast, open_page: OpenPage
) -> None:
    """Half a cent is where two ways to round part."""
    api = world.bakery.test
    short = make.payment(api, title="Rye bread", amount="7.80")
    short = make.simulated(api, short["id"], amount_atomic=str(HALF_CENT))
    over = make.payment(api, title="Rolls", amount="7.80")
    due = int(over["payment_addresses"][0]["crypto_amount_atomic"])
    over = make.simulated(api, over["id"], amount_atomic=str(due + HALF_CENT))
    came = short["amount_paid"]
    left = f"{7.80 - float(came):.2f}"
    excess = f"{over['overpayment']['excess_cents'] / 100:.2f}"
    page = open_page("/dashboard/", width=390, person=world.alice)

    told = {
        "checkout": read(page, f"/pay/{short['reference']}"),
        "payment": read(page, f"/dashboard/payments/{short['id']}"),
        "attention": read(page, "/dashboard/attention"),
        "home": read(page, "/dashboard/"),
    }
    assert {name for name, text in told.items() if f"€{came}" not in text} == set()
    assert {name for name, text in told.items() if f"€{left}" not in text} == set()
    for text in told.values():
        assert set(re.findall(r"€([\d.]+) of €7\.80", text)) <= {came}

    told = {
        "checkout": read(page, f"/pay/{over['reference']}"),
        "payment": read(page, f"/dashboard/payments/{over['id']}"),
        "attention": read(page, "/dashboard/attention"),
    }
    assert {name for name, text in told.items() if f"€{excess}" not in text} == set()


def test_every_count_is_that_of_the_rows_it_stands_over(world: Cast, open_page: OpenPage) -> None:
    api = world.bakery.test
    late(world)
    make.simulated(api, make.payment(api)["id"], "overpaid")
    make.simulated(api, make.payment(api)["id"], "underpaid")
    make.paid(api)
    page = open_page("/dashboard/", person=world.alice)
    for path in ("/dashboard/", "/dashboard/attention"):
        read(page, path)
        heading = page.get_by_role("heading", name=re.compile("^Needs attention"))
        number = int(re.sub(r"\D", "", heading.inner_text()))
        assert page.locator(".notices").first.locator("> li").count() == number == 3, path
        badge = page.locator(".side").get_by_role("link", name=re.compile("Home"))
        assert re.findall(r"\d+", badge.inner_text()) == ["3"], path
    read(page, "/dashboard/notifications")
    unread = page.get_by_text("Unread:", exact=True).count()
    assert unread == page.locator(".notices > li").count() > 0


def test_home_compares_whole_periods_and_rates_what_has_ended(
    world: Cast, open_page: OpenPage
) -> None:
    """The store began a month ago, and a link is still open."""
    api = world.bakery.test
    make.paid(api, amount="2.00")
    make.advance(api, 31 * 86_400)
    make.paid(api, amount="50.00")
    make.payment(api, amount="1.00")
    page = open_page("/dashboard/?range=30", person=world.alice)
    told = words(page)
    for part in ("€50.00", "No full period before", "Success rate 100%"):
        assert part in told, told
    assert page.locator(".sales :is(.up, .down)").count() == 0


def test_an_invoice_is_due_on_one_day_wherever_it_is_read(world: Cast, open_page: OpenPage) -> None:
    """The store is in Berlin, and its bookkeeper and its customer in Tokyo, a day ahead."""
    Store.objects.filter(pk=world.bakery.store.pk).update(time_zone="Europe/Berlin")
    made = billing.opened(world.bakery.test, due_at="2027-01-31T22:59:59Z")
    page = open_page(f"/dashboard/invoices/{made['id']}", person=world.bob, **TOKYO)
    customers = open_page(f"/invoice/{made['public_token']}", width=390, **TOKYO)
    told = {
        "page": words(page),
        "list": read(page, "/dashboard/invoices"),
        "customer": read(page, f"/dashboard/customers/{made['customer_id']}"),
        "invoice": words(customers),
    }
    day = re.compile(r"\b31 Jan(?:uary)? 2027\b")
    assert {name for name, text in told.items() if not day.search(text)} == set()
    assert {name for name, text in told.items() if re.search(r"\b1 Feb", text)} == set()
    due = page.locator("dd", has_text=re.compile(r"^\s*31 Jan 2027\s*$"))
    page.goto(page.url.split("/dashboard")[0] + f"/dashboard/invoices/{made['id']}")
    expect(due.first).to_be_visible()


def test_home_statement_and_reports_end_the_day_at_the_stores_midnight(
    world: Cast, open_page: OpenPage
) -> None:
    """Its day is over when the reader's in Tokyo has hours to go."""
    zone = ZoneInfo("Pacific/Kiritimati")
    Store.objects.filter(pk=world.bakery.store.pk).update(time_zone=zone.key)
    for _ in range(3):
        make.paid(world.bakery.test, amount="10.00")
        make.advance(world.bakery.test, 8 * 3600)
    today = world.bakery.access().now().astimezone(zone).date()
    page = open_page("/dashboard/?range=7", person=world.alice, **TOKYO)
    table = page.locator("details", has=page.locator("table"))
    table.locator("summary").first.click()
    for day in (today, today - timedelta(days=1)):
        row = page.get_by_role("row").filter(has_text=re.compile(rf"{day:%a} {day.day} {day:%b}\b"))
        sold = cents(row.inner_text()) // 1000 if row.count() else 0
        lines = statement_lines(open_page, world, day)
        assert lines == sold == report_lines(world, day), day


def test_the_merchant_reads_when_the_checkout_was_opened(world: Cast, open_page: OpenPage) -> None:
    made = make.payment(world.bakery.test)
    open_page(f"/pay/{made['reference']}", width=390)
    page = open_page(f"/dashboard/payments/{made['id']}", person=world.alice)
    expect(page.get_by_text("Checkout opened for the first time")).to_be_visible()


def cents(text: str) -> int:
    found = re.search(r"€([\d,]+\.\d\d)", text)
    return round(float(found[1].replace(",", "")) * 100) if found else 0


def statement_lines(open_page: OpenPage, world: Cast, day: Any) -> int:
    path = f"/dashboard/statement?account=available&from={day}&to={day}"
    page = open_page(path, person=world.alice, **TOKYO)
    return page.get_by_role("row").filter(has_text="Payment settled").count()


def report_lines(world: Cast, day: Any) -> int:
    ask(Browser(world.alice), day, day, report_type="accounting_transactions")
    generate_due()
    report = Report.objects.get(store=world.bakery.store, period_from=day)
    with storages["private"].open(report.file_name) as file:
        rows = list(csv.DictReader(io.StringIO(file.read().decode("utf-8-sig"))))
    return sum(row["account"] == "available" for row in rows)
