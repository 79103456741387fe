"""GET /payments/summary: what a range of days brought, per settlement currency, never converted."""

from collections import Counter, defaultdict
from datetime import UTC, date, datetime, time, timedelta
from typing import TypedDict, cast

from django.db.models import Count, Q, Sum
from django.db.models.functions import TruncDate

from apps.core.messages.documents import Day, Document
from apps.core.messages.fields import parse_date
from apps.core.models import Mode, Viewer
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


class _Group(TypedDict):
    """What the query says of the intents of a day in one currency and status."""

    day: date
    settlement_currency: str
    status: str
    count: int
    done: int
    volume_cents: int


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
    first, last = date_range(first_text, last_text, at.date())
    begin = datetime.combine(first, time(), UTC)
    end = datetime.combine(last, time.max, UTC)
    rows = (
        Payment.objects.seen_by(viewer)
        .filter(created_at__gte=begin, created_at__lte=end)
        .annotate(day=TruncDate("created_at", tzinfo=UTC))
        .values("day", "settlement_currency", "status")
        .annotate(
            count=Count("id"),
            done=Count("id", filter=Q(completed_at__isnull=False)),
            volume_cents=Sum(
                "settlement_amount_cents", filter=Q(completed_at__isnull=False), default=0
            ),
        )
    )
    return _document(cast(list[_Group], list(rows)), first, last, is_live=viewer.mode == Mode.LIVE)


def _document(
    rows: list[_Group], first: date, last: date, *, is_live: bool
) -> PaymentSummaryDocument:
    counts: Counter[str] = Counter()
    done: Counter[str] = Counter()
    volume: Counter[str] = Counter()
    statuses = Counter(dict.fromkeys(Payment.Status.values, 0))
    by_day: dict[date, list[_Group]] = defaultdict(list)
    for row in rows:
        currency = row["settlement_currency"]
        counts[currency] += row["count"]
        done[currency] += row["done"]
        volume[currency] += row["volume_cents"]
        statuses[row["status"]] += row["count"]
        by_day[row["day"]].append(row)
    currencies = sorted(counts, key=lambda code: (-volume[code], code))
    total = counts.total()
    return PaymentSummaryDocument(
        range=SummaryRange(
            first_day=first.isoformat(), last_day=last.isoformat(), granularity="day"
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
        timeseries=[_day(day, by_day.get(day, [])) for day in _days(first, last)],
    )


def _days(first: date, last: date) -> list[date]:
    return [first + timedelta(days=n) for n in range((last - first).days + 1)]


def _day(day: date, rows: list[_Group]) -> SummaryDay:
    counts: Counter[str] = Counter()
    volume: Counter[str] = Counter()
    for row in rows:
        counts[row["settlement_currency"]] += row["count"]
        volume[row["settlement_currency"]] += row["volume_cents"]
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
