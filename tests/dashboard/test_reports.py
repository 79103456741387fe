"""Reports and statements in the dashboard: asked for in words, shown as far as they are, and told only to their store."""

import csv
import io
from datetime import date, timedelta
from typing import Any

import pytest

from apps.reports import states
from apps.reports.models import Report
from apps.reports.services.generate import generate_due
from apps.reports.services.request import available_through
from apps.stores.models import Member, Role
from tests import make
from tests.cast import Cast
from tests.dashboard.browse import Browser, text


@pytest.fixture
def browser(cast: Cast) -> Browser:
    browser = Browser(cast.alice)
    browser.switch("test")
    return browser


def last_day(cast: Cast) -> date:
    return available_through(cast.bakery.access().now())


def ask(browser: Browser, first: Any, last: Any, **more: Any) -> Any:
    asked = {"report_type": "merchant_statement", "start_date": first, "end_date": last, "format": "csv", "currency": "", **more}
    return browser.client.get("/dashboard/reports", {key: str(value) for key, value in asked.items()})


def test_a_report_is_asked_for_followed_and_downloaded(cast: Cast, browser: Browser) -> None:
    last = last_day(cast)
    assert "No test reports yet" in text(browser.get("reports"))
    answer = ask(browser, last, last)
    assert (answer.status_code, answer.headers["Location"]) == (303, "/dashboard/reports")
    waiting = text(browser.get("reports"))
    assert "Being made" in waiting and "data-refreshes" in waiting
    report = Report.objects.get()
    assert browser.get(f"reports/{report.pk}/file").headers["Location"] == "/dashboard/reports"
    generate_due()
    part = text(browser.get("reports", headers={"HX-Request": "true"}))
    assert "Ready" in part and "data-refreshes" not in part and "<html" not in part
    url = browser.get(f"reports/{report.pk}/file").headers["Location"]
    file = browser.client.get(url.removeprefix("http://localhost:8000"))
    assert b"".join(file.streaming_content).decode("utf-8-sig").startswith("section,unit,kind")


def test_progress_and_failure_are_told(cast: Cast, browser: Browser) -> None:
    last = last_day(cast)
    ask(browser, last, last)
    Report.objects.update(lines_total=400, lines_done=100)
    assert "25 %" in text(browser.get("reports"))
    Report.objects.update(status=states.FAILED, error="The report could not be made. Ask for it again.")
    shown = text(browser.get("reports"))
    assert "Failed" in shown and "Ask for it again." in shown


@pytest.mark.parametrize(
    ("first", "last", "words"),
    [
        ("", "2026-01-01", "The first day is required."),
        ("2026-01-01", "later", "The last day is not a date."),
        ("2026-01-02", "2026-01-01", "The last day must be on or after the first day."),
        ("2024-01-01", "2026-01-01", "A report covers at most 366 days."),
        ("2998-12-31", "2999-01-01", "aren't closed yet."),
    ],
)
def test_a_range_that_cannot_be_is_told_in_words(browser: Browser, first: str, last: str, words: str) -> None:
    answer = ask(browser, first, last)
    assert answer.status_code == 422
    assert words in text(answer).replace("&#x27;", "'")
    assert not Report.objects.exists()


def test_an_unknown_type_makes_nothing(browser: Browser) -> None:
    assert ask(browser, "2026-01-01", "2026-01-01", report_type="tax").status_code == 422


def test_a_preset_overrules_the_dates(browser: Browser) -> None:
    ask(browser, "2026-01-01", "2026-01-01", preset="2026-02-01/2026-02-28")
    assert str(Report.objects.get().period_to) == "2026-02-28"


def test_a_viewer_may_ask_for_reports(cast: Cast) -> None:
    Member.objects.create(store=cast.bakery.store, user=cast.charlie, role=Role.VIEWER, created_at=cast.bakery.access().now())
    Member.objects.filter(store=cast.strangers.store, user=cast.charlie).delete()
    last = last_day(cast)
    assert ask(Browser(cast.charlie), last, last).status_code == 303


# --- the statement -------------------------------------------------------------------------------


def statement(browser: Browser, **query: str) -> Any:
    return browser.client.get("/dashboard/statement", query)


def test_an_empty_store_is_told_what_opens_its_books(browser: Browser) -> None:
    assert "Nothing has been booked yet" in text(statement(browser))


def test_a_statement_shows_every_entry_with_the_balance_it_left(cast: Cast, browser: Browser) -> None:
    paid = [make.paid(cast.bakery.test, amount=amount) for amount in ("18.00", "36.00")]
    shown = text(statement(browser, asset="SETH", account="available"))
    assert shown.count("Payment settled</th>") == 0 and shown.count("Payment settled<br>") == 2
    for part in ("0.0297", "0.0198", "0.0099", *(f'{one["id"]}">{one["reference"]}' for one in paid)):
        assert part in shown
    held = text(statement(browser, asset="SETH", account="held", kind="deposit_confirmed"))
    assert held.count("Deposit confirmed<br>") == 2 and "Payment settled<br>" not in held


def test_pages_of_a_statement_follow_one_another(cast: Cast, browser: Browser) -> None:
    for _ in range(14):
        make.paid(cast.bakery.test)
    first = statement(browser, account="held")
    assert (len(first.context["lines"]), first.context["older_query"] is None) == (25, False)
    second = browser.client.get(f"/dashboard/statement?{first.context['older_query']}")
    assert len(second.context["lines"]) == 3 and second.context["older_query"] is None
    assert "Newest" in text(second)
    part = browser.client.get("/dashboard/statement?account=held", headers={"HX-Request": "true"})
    assert "<html" not in text(part)


def test_days_narrow_a_statement(cast: Cast, browser: Browser) -> None:
    today = cast.bakery.access().now().date()
    make.paid(cast.bakery.test)
    make.advance(cast.bakery.test, 3 * 86400)
    make.paid(cast.bakery.test)
    for query, count in (
        ({}, 2),
        ({"from": f"{today + timedelta(days=1)}"}, 1),
        ({"to": f"{today + timedelta(days=2)}"}, 1),
        ({"from": f"{today - timedelta(days=9)}", "to": f"{today - timedelta(days=1)}"}, 0),
        ({"from": "0001-01-01", "to": "9999-12-30"}, 2),
        ({"from": "garbage", "to": "9999-12-31", "kind": "garbage"}, 2),
    ):
        assert len(statement(browser, account="available", **query).context["lines"]) == count, query


def test_the_csv_is_what_the_page_shows(cast: Cast, browser: Browser) -> None:
    make.paid(cast.bakery.test, amount="18.00")
    answer = browser.get("statement.csv?account=held")
    rows = list(csv.DictReader(io.StringIO(b"".join(answer.streaming_content).decode("utf-8-sig"))))
    assert [(row["description"], row["amount"], row["balance"]) for row in rows] == [
        ("Payment settled", "-0.01", "0"),
        ("Deposit confirmed", "0.01", "0.01"),
    ]
    assert b"".join(browser.get("statement.csv?asset=NONE").streaming_content).count(b"\n") == 1


@pytest.mark.parametrize("before", ["x", "1.2", "%00", "1.2.3.4"])
def test_a_cursor_that_no_page_gave_is_not_found(cast: Cast, browser: Browser, before: str) -> None:
    make.paid(cast.bakery.test)
    assert browser.get(f"statement?before={before}").status_code == 404


def test_another_store_and_the_other_mode_see_nothing_of_it(cast: Cast, browser: Browser) -> None:
    make.paid(cast.bakery.test)
    browser.switch("live")
    assert "Nothing has been booked yet" in text(statement(browser, asset="SETH"))
    assert "Nothing has been booked yet" in text(statement(Browser(cast.charlie), asset="SETH"))
