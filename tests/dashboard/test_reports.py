"""Reports and statements in the dashboard: requested in words, shown as far as they are, and only
to their store."""

import csv
import io
from datetime import date, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from django.core.files.storage import storages
from django.db import connection
from django.test.utils import CaptureQueriesContext

from apps.payouts.services.destinations import add_wallet
from apps.reports import states
from apps.reports.account_codes import CHARTS, CODE_MAX, LINES, line_of
from apps.reports.labels import KINDS
from apps.reports.models import Report
from apps.reports.services.generate import generate_due
from apps.reports.services.request import available_through
from apps.stores.models import Member, Role, Store
from tests import make
from tests.cast import Cast
from tests.dashboard.browse import Browser, field_errors, text


@pytest.fixture
def browser(cast: Cast) -> Browser:
    return Browser(cast.alice)


def last_day(cast: Cast) -> date:
    return available_through(cast.bakery.access().now())


def ask(browser: Browser, first: Any, last: Any, **more: Any) -> Any:
    asked = {
        "report_type": "merchant_statement",
        "start_date": first,
        "end_date": last,
        "format": "csv",
        "currency": "",
        **more,
    }
    return browser.client.get(
        "/dashboard/reports", {key: str(value) for key, value in asked.items()}
    )


def test_a_report_is_asked_for_followed_and_downloaded(cast: Cast, browser: Browser) -> None:
    last = last_day(cast)
    assert "No test reports yet" in text(browser.get("reports"))
    answer = ask(browser, last, last)
    assert (answer.status_code, answer.headers["Location"]) == (303, "/dashboard/reports")
    waiting = text(browser.get("reports"))
    assert "Generating" in waiting and "data-refreshes" in waiting
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
    assert "25%" in text(browser.get("reports"))
    Report.objects.update(
        status=states.FAILED, error="The report could not be made. Ask for it again."
    )
    shown = text(browser.get("reports"))
    assert "Failed" in shown and "Ask for it again." in shown


def test_what_cannot_be_asked_for_is_told_in_words_and_makes_nothing(browser: Browser) -> None:
    for first, last, words in (
        ("", "2026-01-01", "The first day is required."),
        ("2026-01-01", "later", "The last day is not a date."),
        ("2026-01-02", "2026-01-01", "The last day must be on or after the first day."),
        ("2024-01-01", "2026-01-01", "A report covers at most 366 days."),
        ("2998-12-31", "2999-01-01", "Choose a last day up to today, "),
    ):
        answer = ask(browser, first, last)
        assert answer.status_code == 422 and words in text(answer), (first, last)
    assert ask(browser, "2026-01-01", "2026-01-01", report_type="tax").status_code == 422
    assert not Report.objects.exists()


def test_a_preset_overrules_the_dates(browser: Browser) -> None:
    ask(browser, "2026-01-01", "2026-01-01", preset="2026-02-01/2026-02-28")
    assert str(Report.objects.get().period_to) == "2026-02-28"


def test_a_report_of_today_says_that_it_is_so_far_and_is_made_anew(
    cast: Cast, browser: Browser
) -> None:
    api = cast.bakery.test
    make.paid(api)
    make.advance(api, 120)
    today = cast.bakery.access().now().date()
    ask(browser, today, today, report_type="accounting_transactions")
    generate_due()
    report = Report.objects.get()
    assert report.is_so_far and report.until is not None and "so-far" in report.file_name
    assert report.until <= cast.bakery.access().now()
    assert report.status == states.GENERATED, report.error
    few = report.lines_done
    shown = text(browser.get("reports"))
    assert ">So far<" in shown and "This month so far" in shown
    make.paid(api)
    make.advance(api, 120)
    ask(browser, today, today, report_type="accounting_transactions")
    generate_due()
    report.refresh_from_db()
    assert Report.objects.count() == 1 and report.lines_done > few
    refused = api.get(f"/reports/accounting_transactions?start_date={today}&end_date={today}")
    assert refused.status_code == 422, "the API has closed days of UTC"


def test_statement_home_and_reports_cut_days_at_the_stores_midnight(
    cast: Cast, browser: Browser
) -> None:
    Store.objects.filter(pk=cast.bakery.store.pk).update(time_zone="Pacific/Kiritimati")
    zone = ZoneInfo("Pacific/Kiritimati")
    for _ in range(3):
        make.paid(cast.bakery.test, amount="10.00")
        make.advance(cast.bakery.test, 7 * 3600)
    today = cast.bakery.access().now().astimezone(zone).date()
    chart = browser.get("?range=7").context["overview"].chart
    for day in (today, today - timedelta(days=1), today - timedelta(days=2)):
        lines = browser.get(f"statement?account=available&from={day}&to={day}").context["lines"]
        ask(browser, day, day, report_type="accounting_transactions")
        generate_due()
        report = Report.objects.get(period_from=day)
        assert report.time_zone == "Pacific/Kiritimati"
        with storages["private"].open(report.file_name) as file:
            rows = list(csv.DictReader(io.StringIO(file.read().decode("utf-8-sig"))))
        settled = [row for row in rows if row["account"] == "available"]
        sold = {bar.day: bar.cents for bar in chart.bars}[day]
        assert len(lines) == len(settled) == sold // 1000, day
    assert "Pacific/Kiritimati" in text(browser.get("reports"))


def test_a_viewer_may_ask_for_reports(cast: Cast) -> None:
    Member.objects.create(
        store=cast.bakery.store,
        user=cast.charlie,
        role=Role.VIEWER,
        created_at=cast.bakery.access().now(),
    )
    Member.objects.filter(store=cast.strangers.store, user=cast.charlie).delete()
    last = last_day(cast)
    assert ask(Browser(cast.charlie), last, last).status_code == 303


# --- the statement -------------------------------------------------------------------------------


def statement(browser: Browser, **query: str) -> Any:
    return browser.client.get("/dashboard/statement", query)


def test_an_empty_store_is_told_what_opens_its_books(browser: Browser) -> None:
    assert "No test entries yet" in text(statement(browser))


def test_a_statement_shows_every_entry_with_the_balance_it_left(
    cast: Cast, browser: Browser
) -> None:
    paid = [make.paid(cast.bakery.test, amount=amount) for amount in ("18.00", "36.00")]
    shown = text(statement(browser, asset="SETH", account="available"))
    assert shown.count("Payment settled</td>") == 2
    links = [f'payments/{item["id"]}"><bdi>{item["reference"]}' for item in paid]
    for part in ("0.0297", "0.0198", "0.0099", "€17.82", "€35.64", *links):
        assert part in shown
    assert "Total of 2 entries" in shown and "€53.46" in shown and "€0.54" in shown
    held = text(statement(browser, asset="SETH", account="held", kind="deposit_confirmed"))
    assert held.count("Deposit confirmed</td>") == 2 and "Payment settled</td>" not in held


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
        assert len(statement(browser, account="available", **query).context["lines"]) == count, (
            query
        )


def test_the_csv_is_what_the_page_shows(cast: Cast, browser: Browser) -> None:
    make.paid(cast.bakery.test, amount="18.00")
    rows = exported(browser, "account=held")
    assert [(row["description"], row["amount"], row["balance"]) for row in rows] == [
        ("Payment settled", "-0.01", "0"),
        ("Deposit confirmed", "0.01", "0.01"),
    ]
    assert b"".join(browser.get("statement.csv?asset=NONE").streaming_content).count(b"\n") == 1


def test_lines_say_what_they_were_for(cast: Cast, browser: Browser) -> None:
    shop = cast.bakery
    make.paid(shop.test, amount="100.00", title="Table <for> two", order_id="A-17")
    saved = add_wallet(
        shop.store, "test", "sepolia", "0x52908400098527886E0F7030069857D2E4169EE7", "Cold one"
    )
    make.payout(shop.test, 10**15, crypto_payout_detail_id=str(saved.pk))
    make.payout(shop.test, 10**15)
    make.swapped(shop)
    shown = text(statement(browser, asset="SETH", account="available"))
    for part in (
        "Table &lt;for&gt; two",
        "A-17",
        "Payout to Cold one",
        "Payout to 0x",
        "Swap of ETH to USDC",
        "Correction by staff",
    ):
        assert part in shown, part


def test_a_statement_asks_no_more_questions_with_more_lines(cast: Cast, browser: Browser) -> None:
    def questions() -> int:
        with CaptureQueriesContext(connection) as asked:
            statement(browser, account="available")
        return len(asked)

    for _ in range(2):
        make.paid(cast.bakery.test, amount="100.00")
        make.payout(cast.bakery.test, 10**15)
    questions()
    few = questions()
    for _ in range(6):
        make.paid(cast.bakery.test)
        make.payout(cast.bakery.test, 10**15)
    assert questions() <= few


def test_presets_are_ranges_of_days(cast: Cast, browser: Browser) -> None:
    make.paid(cast.bakery.test)
    presets = {preset.name: preset.query for preset in statement(browser).context["presets"]}
    today = cast.bakery.access().now().date()
    assert (
        presets["This month"].endswith(f"from={today.replace(day=1)}&to={today}")
        and presets["All time"] == ""
    )
    for name, query in presets.items():
        page = browser.client.get(f"/dashboard/statement?{query}")
        assert [preset.name for preset in page.context["presets"] if preset.is_current] == [name]
        assert len(page.context["lines"]) == (0 if name.startswith("Last") else 1)


def exported(browser: Browser, query: str = "") -> list[dict[str, str]]:
    answer = browser.get(f"statement.csv?{query}")
    return list(csv.DictReader(io.StringIO(b"".join(answer.streaming_content).decode("utf-8-sig"))))


def test_account_codes_stand_in_the_csv(cast: Cast, browser: Browser) -> None:
    make.paid(cast.bakery.test, amount="18.00")
    (before,) = exported(browser, "account=available")
    assert (before["account_code"], before["fee_account_code"]) == ("", "")
    page = browser.get("settings/account-codes?chart=skr04")
    assert 'value="4400"' in text(page) and "Nothing is saved yet" in text(page)
    codes = {"payments": "4400", "fees": "=6855", "refunds": ""}
    assert browser.post("settings/account-codes", **codes).status_code == 303
    assert 'value="4400"' in text(browser.get("settings/account-codes"))
    (row,) = exported(browser, "account=available")
    assert (row["account_code"], row["fee_account_code"]) == ("4400", "'=6855")
    assert (row["fee"], row["value"], row["fee_value"], row["currency"]) == (
        "0.0001",
        "17.82",
        "0.18",
        "EUR",
    )
    assert Browser(cast.charlie).get("settings/account-codes").context["rows"][0][2] == ""


def test_a_code_that_is_too_long_is_refused_at_its_input(browser: Browser) -> None:
    answer = browser.post("settings/account-codes", payments="1" * 21)
    assert answer.status_code == 422
    assert field_errors(answer) == {"payments": "Payments is too long (maximum is 20 characters)."}


def test_every_kind_of_movement_has_a_line_with_a_code() -> None:
    assert {line_of(kind) for kind in KINDS} == set(LINES)
    assert all(len(getattr(codes, name)) <= CODE_MAX for codes in CHARTS.values() for name in LINES)


def test_a_cursor_that_no_page_gave_is_not_found(cast: Cast, browser: Browser) -> None:
    make.paid(cast.bakery.test)
    for before in ("x", "1.2", "%00", "1.2.3.4"):
        assert browser.get(f"statement?before={before}").status_code == 404, before


def test_another_store_and_the_other_mode_see_nothing_of_it(cast: Cast, browser: Browser) -> None:
    make.paid(cast.bakery.test)
    browser.switch("live")
    assert "No entries yet" in text(statement(browser, asset="SETH"))
    assert "No test entries yet" in text(statement(Browser(cast.charlie), asset="SETH"))
