"""GET /payments/summary: what a range of days brought, per settlement currency, never converted."""

from collections import Counter, defaultdict
from dataclasses import dataclass
from datetime import date, datetime
from typing import NamedTuple

from apps.core.db.replica import reads_may_lag
from apps.core.db.sql import Statement
from apps.core.messages.documents import Day, Document
from apps.core.messages.fields import parse_date
from apps.core.models import Mode, Viewer
from apps.core.text.days import Days
from apps.payments import states
from apps.payments.hourly_sums import parts
from apps.payments.models import Payment

DAYS_DEFAULT = 30
DAYS_MAX = 366


class SummaryRange(
    Document, frozen=True, kw_only=True, rename={"first_day": "from", "last_day": "to"}
):
    first_day: Day
    last_day: Day
    granularity: str


class SummaryTotals(Document, frozen=True, kw_only=True):
    """The objects are keyed by settlement currency, `status_counts` by status; rates are shares of
    all intents."""

    order_count: int
    order_count_by_currency: dict[str, int]
    volume_cents: dict[str, int]
    avg_order_value_cents: dict[str, int]
    status_counts: dict[str, int]
    success_rate: float
    success_rate_by_currency: dict[str, float]


class SummaryDay(Document, frozen=True, kw_only=True):
    date: Day
    order_count: int
    order_count_by_currency: dict[str, int]
    volume_cents: dict[str, int]


class PaymentSummaryDocument(Document, frozen=True, kw_only=True):
    range: SummaryRange
    livemode: bool
    currencies: list[str]
    totals: SummaryTotals
    timeseries: list[SummaryDay]


class _Group(NamedTuple):
    """Figures of the intents of a day, counted from one, in one currency and status."""

    number: int
    currency: str
    status: str
    orders: int
    done: int
    volume_cents: int


_SUMMARY = Statement(f"""
WITH {parts(has_nets=False)}
SELECT width_bucket(at, %(begins)s::timestamptz[]), currency, status, sum(payments)::bigint,
    sum(completed)::bigint, sum(completed_cents)::bigint
FROM part GROUP BY 1, 2, 3 HAVING sum(payments) <> 0
""")  # noqa: S608  # our own text


def date_range(first_text: str | None, last_text: str | None, today: date) -> tuple[date, date]:
    """Unreadable dates are the defaults; a range the wrong way round is its last day; a longer one
    loses its beginning."""
    last = parse_date(last_text) or today
    first = parse_date(first_text) or _days_before(last, DAYS_DEFAULT - 1)
    return max(min(first, last), _days_before(last, DAYS_MAX - 1)), last


def _days_before(day: date, days: int) -> date:
    return date.fromordinal(max(1, day.toordinal() - days))


def summary(
    viewer: Viewer, first_text: str | None, last_text: str | None, at: datetime
) -> PaymentSummaryDocument:
    """The figures of the intents created in the range (days are UTC, both inclusive)."""
    return summary_of(viewer, Days(*date_range(first_text, last_text, at.date())))


def summary_of(viewer: Viewer, days: Days) -> PaymentSummaryDocument:
    """Summary by the days of any zone."""
    return sales_of(viewer, days).summary


@dataclass(frozen=True)
class Sales:
    """The summary, and by currency how many of the intents can no longer change and how many of
    these completed."""

    summary: PaymentSummaryDocument
    ended: Counter[str]
    completed: Counter[str]


@reads_may_lag("figures of days")
def sales_of(viewer: Viewer, days: Days) -> Sales:
    """Of the intents created on days of any zone."""
    rows = _SUMMARY.rows(
        store_id=viewer.store_id,
        mode=viewer.mode,
        begin=days.begin,
        end=days.end,
        begins=[begin for begin in days.begins if begin <= days.end],
    )
    groups = [_Group(*row) for row in rows]
    ended: Counter[str] = Counter()
    completed: Counter[str] = Counter()
    for group in groups:
        if group.status in states.TERMINAL:
            ended[group.currency] += group.orders
            completed[group.currency] += group.done
    document = _document(groups, days, is_live=viewer.mode == Mode.LIVE)
    return Sales(document, ended, completed)


def _document(rows: list[_Group], days: Days, *, is_live: bool) -> PaymentSummaryDocument:
    counts: Counter[str] = Counter()
    done: Counter[str] = Counter()
    volume: Counter[str] = Counter()
    statuses = Counter(dict.fromkeys(Payment.Status.values, 0))
    by_number: dict[int, list[_Group]] = defaultdict(list)
    for row in rows:
        counts[row.currency] += row.orders
        done[row.currency] += row.done
        volume[row.currency] += row.volume_cents
        statuses[row.status] += row.orders
        by_number[row.number].append(row)
    currencies = sorted(counts, key=lambda code: (-volume[code], code))
    total = counts.total()
    return PaymentSummaryDocument(
        range=SummaryRange(
            first_day=days.first.isoformat(), last_day=days.last.isoformat(), granularity="day"
        ),
        livemode=is_live,
        currencies=currencies,
        totals=SummaryTotals(
            order_count=total,
            order_count_by_currency=dict(counts),
            volume_cents={code: volume[code] for code in currencies},
            avg_order_value_cents={code: _average(volume[code], done[code]) for code in currencies},
            status_counts=dict(statuses),
            success_rate=_rate(done.total(), total),
            success_rate_by_currency={code: _rate(done[code], counts[code]) for code in currencies},
        ),
        timeseries=[
            _day(day, by_number.get(number, [])) for number, day in enumerate(days.every, start=1)
        ],
    )


def _day(day: date, rows: list[_Group]) -> SummaryDay:
    counts: Counter[str] = Counter()
    volume: Counter[str] = Counter()
    for row in rows:
        counts[row.currency] += row.orders
        volume[row.currency] += row.volume_cents
    return SummaryDay(
        date=day.isoformat(),
        order_count=counts.total(),
        order_count_by_currency=dict(counts),
        volume_cents=dict(volume),
    )


def _average(volume_cents: int, count: int) -> int:
    """Half-up to the cent."""
    return (2 * volume_cents + count) // (2 * count) if count else 0


def _rate(done: int, total: int) -> float:
    """A share, rounded to four places; a figure for eyes, not money."""
    return round(done / total, 4) if total else 0
