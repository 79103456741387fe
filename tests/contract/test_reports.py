"""/reports: the order of the checks, their sentences, polling, reuse, retries and the index."""

from copy import copy
from datetime import UTC, date, datetime, timedelta
from typing import Any

import pytest

from apps.core import clock
from apps.core.ids import new_id
from apps.reports import states
from apps.reports.models import Report
from apps.reports.services import request as requesting
from apps.reports.services.generate import generate_due
from apps.reports.services.request import available_through
from tests.cast import Api, Cast, Shop

TYPES = list(Report.Type.values)


def through(api: Api) -> date:
    return date.fromisoformat(api.get("/reports").json()["available_through"])


def ask(api: Api, start: Any, end: Any, kind: str = TYPES[0], **more: str) -> Any:
    given = {"start_date": start, "end_date": end, **more}
    return api.client.get(
        f"/api/v2/reports/{kind}",
        {key: str(value) for key, value in given.items() if value is not None},
        headers=api.headers,
    )


NO_DATES: list[tuple[str | None, str | None, str]] = [
    (None, None, "start_date is required"),
    (None, "soon", "start_date is required"),
    ("soon", None, "end_date is required"),
    ("", "2026-01-01", "start_date is required"),
    ("soon", "later", "start_date is not a date"),
    ("2026-02-30", "2026-03-01", "start_date is not a date"),
    ("2026-01-01", "2026-1-2", "end_date is not a date"),
    ("2026-01-01", "20260102", "end_date is not a date"),
    ("2026-01-01", "2026-W01-1", "end_date is not a date"),
    ("0000-01-01", "2026-01-01", "start_date is not a date"),
    ("2026-01-01T00:00:00Z", "2026-01-02", "start_date is not a date"),
    ("2026-01-01\x00", "2026-01-02", "start_date is not a date"),
    ("２026-01-01", "2026-01-02", "start_date is not a date"),
    ("2999-01-02", "2999-01-01", "end_date must be on or after start_date"),
]


@pytest.mark.parametrize("kind", TYPES)
def test_a_date_is_refused_in_the_documented_order(bakery: Shop, kind: str) -> None:
    for start, end, error in NO_DATES:
        answer = ask(bakery.test, start, end, kind)
        assert (answer.status_code, answer.json()) == (422, {"error": error}), (start, end)


def test_a_range_that_cant_be_is_refused_as_described(bakery: Shop) -> None:
    """`Api` holds the answer against the description, whose shape has the days that are shown."""
    for first, last, told in (
        ("2020-01-01", "2026-01-01", "max_days"),
        ("2999-01-01", "2999-01-02", "available_through"),
    ):
        answer = bakery.test.get(f"/reports/{TYPES[0]}?start_date={first}&end_date={last}")
        assert answer.status_code == 422 and told in answer.json()


def test_a_range_has_at_most_366_days_and_ends_on_a_closed_day(bakery: Shop) -> None:
    last = through(bakery.test)
    day = timedelta(days=1)
    assert ask(bakery.test, last - 366 * day, last).json() == {
        "error": "date_range_too_large",
        "max_days": 366,
    }
    assert ask(bakery.test, last - 365 * day, last).status_code == 202
    unavailable = {"error": "date_range_unavailable", "available_through": last.isoformat()}
    assert ask(bakery.test, last, last + day).json() == unavailable
    assert ask(bakery.test, "2999-01-01", "2999-01-01").json() == unavailable
    assert ask(bakery.test, "2025-01-01", "2999-01-01").json()["error"] == "date_range_too_large"


@pytest.mark.parametrize(
    ("now", "last"),
    [
        (datetime(2026, 11, 21, 11, 59, 59, 999999, tzinfo=UTC), date(2026, 11, 19)),
        (datetime(2026, 11, 21, 12, tzinfo=UTC), date(2026, 11, 20)),
        (datetime(2026, 3, 1, 0, 0, tzinfo=UTC), date(2026, 2, 27)),
    ],
)
def test_yesterday_is_available_from_noon(now: datetime, last: date) -> None:
    assert available_through(now) == last


def test_the_test_clock_closes_days(bakery: Shop) -> None:
    before = through(bakery.test)
    bakery.test.post("/test_clock/advance", {"seconds": 3 * 86400})
    assert through(bakery.test) == before + timedelta(days=3)
    assert through(bakery.live) == before


def test_polling_ends_with_a_link_that_opens_for_an_hour(bakery: Shop, client: Any) -> None:
    last = through(bakery.test)
    waiting = ask(bakery.test, last, last)
    assert waiting.status_code == 202
    report_id = waiting.json()["report_id"]
    assert waiting.json() == {"status": "pending", "report_id": report_id}
    generate_due()
    ready = ask(bakery.test, last, last)
    body = ready.json()
    assert (ready.status_code, {**body, "url": ""}) == (
        200,
        {"status": "generated", "url": "", "expires_in": 3600, "report_id": report_id},
    )
    file = client.get(body["url"].removeprefix("http://localhost:8000"))
    assert file.status_code == 200
    assert b"".join(file.streaming_content).startswith(b"%PDF-")


SHEETS = "pdf, csv, csv_semicolon, csv_tab"
FORMATS = {
    "accounting_transactions": f"{SHEETS}, beancount, hledger, ledger, datev",
    "merchant_statement": f"{SHEETS}, xero, quickbooks, ofx, camt053",
    "tax_report": SHEETS,
}


def test_every_format_has_a_record_and_another_is_refused(bakery: Shop) -> None:
    last = through(bakery.test)
    plain, pdf, csv = (
        ask(bakery.test, last, last, **more).json()
        for more in ({}, {"format": "pdf"}, {"format": "csv"})
    )
    assert plain == pdf != csv
    for kind, formats in FORMATS.items():
        refused = ask(bakery.test, last, last, kind, format="xlsx")
        told = {"error": f"format must be one of {formats}"}
        assert (refused.status_code, refused.json()) == (422, told)
        asked = formats.replace(", datev", "").split(", ")
        ids = {ask(bakery.test, last, last, kind, format=one).json()["report_id"] for one in asked}
        assert len(ids) == len(asked)
    refused = ask(bakery.test, last, last, format="datev")
    assert refused.status_code == 422 and "account codes" in refused.json()["error"]


def test_a_currency_that_is_not_known_covers_all(bakery: Shop) -> None:
    last = through(bakery.test)
    every = ask(bakery.test, last, last).json()
    assert ask(bakery.test, last, last, currency="EUR").json() != every
    for unknown in ("AUD", "usd", "", "x" * 500, "\x00"):
        assert ask(bakery.test, last, last, currency=unknown).json() == every, unknown


def test_asking_again_finds_the_report_and_another_question_makes_another(cast: Cast) -> None:
    api = cast.bakery.test
    last = through(cast.bakery.test)
    first = ask(api, last, last).json()["report_id"]
    assert ask(api, last, last).json()["report_id"] == first
    others = [
        ask(api, last - timedelta(days=1), last),
        ask(api, last, last, TYPES[1]),
        ask(cast.bakery.live, last, last),
        ask(cast.strangers.test, last, last),
    ]
    assert len({first, *(other.json()["report_id"] for other in others)}) == 5


def test_a_failed_report_is_tried_again_on_the_next_request(bakery: Shop) -> None:
    last = through(bakery.test)
    report_id = ask(bakery.test, last, last).json()["report_id"]
    Report.objects.filter(pk=report_id).update(status=states.FAILED, error="It broke", attempts=3)
    assert bakery.test.get("/reports").json()["reports"][0]["error"] == "It broke"
    again = ask(bakery.test, last, last)
    assert (again.status_code, again.json()["report_id"]) == (202, report_id)
    row = Report.objects.get(pk=report_id)
    assert (row.status, row.attempts, row.error) == (states.PENDING, 0, "")


def test_a_pending_report_that_nobody_touched_for_five_minutes_is_tried_again(bakery: Shop) -> None:
    last = through(bakery.test)
    report_id = ask(bakery.test, last, last).json()["report_id"]
    claimed = clock.real_now() + timedelta(minutes=20)
    for age, is_freed in ((299, False), (301, True)):
        touched = clock.real_now() - timedelta(seconds=age)
        Report.objects.filter(pk=report_id).update(touched_at=touched, claimed_until=claimed)
        assert ask(bakery.test, last, last).status_code == 202
        assert (Report.objects.get(pk=report_id).claimed_until is None) is is_freed


def test_a_report_whose_file_is_gone_is_made_again(bakery: Shop) -> None:
    last = through(bakery.test)
    report_id = ask(bakery.test, last, last, format="csv").json()["report_id"]
    generate_due()
    Report.objects.filter(pk=report_id).update(file_name="reports/gone.csv")
    assert ask(bakery.test, last, last, format="csv").status_code == 202
    generate_due()
    again = ask(bakery.test, last, last, format="csv")
    assert (again.status_code, again.json()["report_id"]) == (200, report_id)


def test_a_store_has_a_limited_number_of_reports_under_way(bakery: Shop, monkeypatch: Any) -> None:
    monkeypatch.setattr(requesting, "PENDING_MAX", 2)
    last = through(bakery.test)
    made = [ask(bakery.test, last - timedelta(days=n), last) for n in range(3)]
    assert [item.status_code for item in made] == [202, 202, 429]
    assert (
        made[2].json()["error"]["code"] == "rate_limited" and made[2].headers["Retry-After"] == "30"
    )
    assert ask(bakery.test, last, last).status_code == 202


def asked_earlier(row: Report, days: int) -> Report:
    """The report of a range that began earlier, asked for so many days before."""
    earlier = copy(row)
    earlier.pk = new_id()
    earlier.period_from -= timedelta(days=days)
    earlier.created_at -= timedelta(days=days)
    return earlier


def test_the_index_has_the_fifty_newest_of_the_store_and_mode(cast: Cast) -> None:
    api = cast.bakery.test
    last = through(cast.bakery.test)
    ask(api, last, last, format="csv", currency="USD")
    generate_due()
    made = [Report.objects.get()]
    made += [asked_earlier(made[0], days) for days in range(1, 50)]
    Report.objects.bulk_create(made[1:])
    newest = ask(api, last, last, TYPES[1]).json()["report_id"]
    reports = api.get("/reports").json()["reports"]
    assert [report["id"] for report in reports] == [newest, *(str(row.pk) for row in made[:-1])]
    assert (
        cast.strangers.test.get("/reports").json()["reports"]
        == cast.bakery.live.get("/reports").json()["reports"]
        == []
    )
    pending = reports[0]
    ready = next(report for report in reports if report["status"] == "generated")
    keys = [
        "id",
        "report_type",
        "status",
        "period_from",
        "period_to",
        "currency",
        "format",
        "created_at",
        "generated_at",
        "size_bytes",
        "error",
        "time_zone",
    ]
    assert list(pending) == keys and list(ready) == [*keys, "url", "expires_in"]
    assert (pending["currency"], ready["currency"], ready["expires_in"]) == (None, "USD", 3600)
    assert (pending["generated_at"], pending["size_bytes"], ready["error"]) == (None, None, None)


def test_reports_ask_for_balances_read(bakery: Shop) -> None:
    for path in ("/reports", *(f"/reports/{kind}" for kind in TYPES)):
        assert (
            bakery.with_scopes("payments:read").get(path).json()["error"]["code"]
            == "insufficient_scope"
        )
        assert (
            Api(bakery.secrets["test_publishable"]).get(path).json()["error"]["code"]
            == "publishable_key_forbidden"
        )
        assert bakery.with_scopes("balances:read").get(path).status_code in (200, 422)


def test_the_first_day_that_there_is_has_a_report_in_any_zone(bakery: Shop) -> None:
    for zone in ("Asia/Tokyo", "Pacific/Honolulu"):
        for form in ("pdf", "csv"):
            ask(bakery.test, date.min, date.min, time_zone=zone, format=form)
    generate_due()
    assert set(Report.objects.values_list("status", flat=True)) == {"generated"}


def test_days_of_a_zone_are_asked_for_by_its_name(bakery: Shop) -> None:
    last = through(bakery.test) - timedelta(days=1)
    for zone in ("Europe/Berlin", "Pacific/Kiritimati"):
        asked = ask(bakery.test, last, last, time_zone=zone)
        assert asked.status_code == 202
        assert ask(bakery.test, last, last, time_zone=zone).json() == asked.json()
    assert ask(bakery.test, last, last).status_code == 202
    assert ask(bakery.test, last, last, time_zone="UTC").status_code == 202
    told = [row["time_zone"] for row in bakery.test.get("/reports").json()["reports"]]
    assert sorted(told) == ["Europe/Berlin", "Pacific/Kiritimati", "UTC"]
    refused = ask(bakery.test, last, last, time_zone="Mars/Olympus")
    assert (refused.status_code, refused.json()) == (
        422,
        {"error": "time_zone is not a known time zone"},
    )
