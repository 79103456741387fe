"""The dates of billing: contiguous, strictly forward, and on the anchor's day wherever the month
has it."""

from calendar import monthrange
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.billing.periods import DAYS, MONTHS, due_at, period_days, period_end

MOMENTS = st.datetimes(datetime(2000, 1, 1), datetime(2100, 1, 1), timezones=st.just(UTC))
INTERVALS = st.sampled_from([*DAYS, *MONTHS])
COUNTS = st.integers(1, 365)


def at(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


ROWS = [  # start, interval, count, anchor's day, end
    ("2026-01-31", "monthly", 1, 31, "2026-02-28"),
    ("2026-02-28", "monthly", 1, 31, "2026-03-31"),
    ("2028-01-31", "monthly", 1, 31, "2028-02-29"),
    ("2028-02-29", "monthly", 1, 31, "2028-03-31"),
    ("2026-01-30", "monthly", 1, 30, "2026-02-28"),
    ("2026-02-28", "monthly", 1, 30, "2026-03-30"),
    ("2026-02-28", "monthly", 1, 28, "2026-03-28"),
    ("2026-11-30", "monthly", 3, 30, "2027-02-28"),
    ("2027-02-28", "monthly", 3, 30, "2027-05-30"),
    ("2026-12-31", "monthly", 1, 31, "2027-01-31"),
    ("2028-02-29", "yearly", 1, 29, "2029-02-28"),
    ("2029-02-28", "yearly", 3, 29, "2032-02-29"),
    ("2026-03-28", "weekly", 1, 28, "2026-04-04"),
    ("2026-10-24", "daily", 2, 24, "2026-10-26"),
    ("2026-01-31", "monthly", 365, 31, "2056-06-30"),
]


@pytest.mark.parametrize(("start", "interval", "count", "day", "end"), ROWS)
def test_ends_of_periods(start: str, interval: str, count: int, day: int, end: str) -> None:
    assert period_end(at(start), interval, count, day) == at(end)


def counted_from_anchor(anchor: datetime, interval: str, count: int, periods: int) -> datetime:
    """Dates of the periods, each counted from the anchor."""
    if interval in DAYS:
        return anchor + timedelta(days=DAYS[interval] * count * periods)
    year, month = divmod(
        anchor.year * 12 + anchor.month - 1 + MONTHS[interval] * count * periods, 12
    )
    return anchor.replace(
        year=year, month=month + 1, day=min(anchor.day, monthrange(year, month + 1)[1])
    )


@given(MOMENTS, INTERVALS, st.integers(1, 12), st.integers(1, 30))
def test_period_after_period_is_what_counting_from_the_anchor_gives(
    anchor: datetime, interval: str, count: int, periods: int
) -> None:
    start = anchor
    for n in range(1, periods + 1):
        start = period_end(start, interval, count, anchor.day)
        assert start == counted_from_anchor(anchor, interval, count, n)


@given(MOMENTS, INTERVALS, COUNTS)
def test_a_period_is_forward_and_keeps_the_time_of_day(
    start: datetime, interval: str, count: int
) -> None:
    end = period_end(start, interval, count, start.day)
    assert end > start
    assert end.timetz() == start.timetz()


@given(MOMENTS, INTERVALS, COUNTS, st.integers(0, 400))
def test_an_invoice_is_due_within_its_cycle(
    start: datetime, interval: str, count: int, days: int
) -> None:
    end = period_end(start, interval, count, start.day)
    assert start <= due_at(start, start, end, days) <= end
    assert due_at(start + timedelta(minutes=1), start, end, days) == min(
        start + timedelta(days=days), end
    )
    late = start + timedelta(days=2)
    assert due_at(late, start, end, days) == late + min(timedelta(days=days), end - start)


BERLIN = ZoneInfo("Europe/Berlin")
ZONES = st.sampled_from([UTC, BERLIN, ZoneInfo("America/New_York"), ZoneInfo("Pacific/Auckland")])


def test_an_anchor_on_the_31st_of_the_stores_zone_returns_to_it() -> None:
    """Half past midnight in Berlin is the day before in UTC."""
    moment = datetime(2026, 1, 31, 0, 30, tzinfo=BERLIN).astimezone(UTC)
    days = []
    for _ in range(4):
        moment = period_end(moment, "monthly", 1, 31, BERLIN)
        days.append(moment.astimezone(BERLIN).isoformat())
    assert days == [
        "2026-02-28T00:30:00+01:00",
        "2026-03-31T00:30:00+02:00",
        "2026-04-30T00:30:00+02:00",
        "2026-05-31T00:30:00+02:00",
    ]


def test_the_year_turns_when_it_does_in_the_store() -> None:
    start = datetime(2026, 12, 31, 23, 30, tzinfo=UTC)
    first, last = period_days(start, period_end(start, "monthly", 1, 1, BERLIN), BERLIN)
    assert (first.isoformat(), last.isoformat()) == ("2027-01-01", "2027-01-31")


@given(MOMENTS, st.sampled_from([*DAYS, *MONTHS]), st.integers(1, 12), ZONES)
def test_periods_share_no_day_and_leave_none_out(
    start: datetime, interval: str, count: int, zone: ZoneInfo
) -> None:
    anchor = start.astimezone(zone).day
    middle = period_end(start, interval, count, anchor, zone)
    end = period_end(middle, interval, count, anchor, zone)
    first, last = period_days(start, middle, zone)
    next_first, next_last = period_days(middle, end, zone)
    assert first <= last < next_first <= next_last
    assert next_first - last == timedelta(days=1)
