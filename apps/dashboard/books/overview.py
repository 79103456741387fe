"""Business figures: four of a range of days beside those of the range before, and gross volume by
day.

The figures are those of `GET /payments/summary`, in one currency and never converted, but for the
success rate, in which nothing counts that is still open. Days are the store's, and what isn't over
is compared with the same part of what was before.
"""

from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime, timedelta, tzinfo
from fractions import Fraction
from functools import cached_property

from django.utils.translation import gettext, gettext_noop

from apps.access.access import Access
from apps.core.redis import value_cache
from apps.core.templatetags.tillgate import decimal_mark, fiat, percent
from apps.core.text.days import Days
from apps.dashboard.books.chart_days import ChartDays, chart_days
from apps.dashboard.books.charts import Chart, line_chart
from apps.dashboard.tables import days
from apps.payments.documents.summary import PaymentSummaryDocument, Sales, sales_of
from apps.payments.net import kept_net_cents, net_cents
from apps.payments.selectors import had_payments_by
from apps.payments.units import step_of

RANGES = {
    "7": gettext_noop("7 days"),
    "30": gettext_noop("30 days"),
    "90": gettext_noop("90 days"),
    "month": gettext_noop("This month"),
}
DEFAULT = "30"
NET = gettext_noop("Net after fees and refunds")
# Where the ledger is asked about each payment of both ranges: of a large store not at every look.
KEPT_FROM = 1000
KEPT_SECONDS = 300
ASKED_MAX = 25_000


@dataclass(frozen=True)
class Figure:
    """`change` is what it became more or less than before; empty without anything to compare
    with."""

    label: str
    value: str
    change: str = ""
    is_up: bool = False
    is_down: bool = False
    before: str = ""
    note: str = field(default_factory=lambda: gettext("No earlier data"))


@dataclass(frozen=True)
class RangeChoice:
    key: str
    label: str
    is_current: bool


@dataclass(frozen=True)
class Overview:
    """`other_volumes` are the volumes in currencies that the figures leave out. Payments that can
    still complete, which `has_open` says there are, don't count in the success rate. Where
    `is_overpaid`, customers sent so much more than they were asked for that net is above gross
    volume, which counts what they were asked for."""

    choices: list[RangeChoice]
    now: Days
    before: Days
    currency: str
    figures: list[Figure]
    chart: Chart | None
    other_volumes: list[str]
    has_open: bool
    is_overpaid: bool

    @cached_property
    def chart_days(self) -> ChartDays | None:
        """The chart's days in words."""
        return None if self.chart is None else chart_days(self.chart, self.currency)


def overview(access: Access, chosen: str) -> Overview:
    key = chosen if chosen in RANGES else DEFAULT
    now, before = ranges(key, access.now().astimezone(days.zone_of_books(access)))
    sales = sales_of(access, now)
    sales_before = sales_of(access, before)
    these = sales.summary
    before_summary = sales_before.summary
    is_compared = _is_whole(access, sales_before, before)
    currency = _currency(access, these)
    net = _net(
        access, currency, now, before, these.totals.order_count + before_summary.totals.order_count
    )
    return Overview(
        choices=[RangeChoice(name, gettext(label), name == key) for name, label in RANGES.items()],
        now=now,
        before=before,
        currency=currency,
        figures=_figures(sales, sales_before, currency, net, is_compared=is_compared),
        chart=_chart(these, before_summary if is_compared else None, currency, now, before),
        other_volumes=[
            fiat(cents, code)
            for code, cents in these.totals.volume_cents.items()
            if cents and code != currency
        ],
        has_open=these.totals.order_count_by_currency.get(currency, 0) > sales.ended[currency],
        is_overpaid=net is not None and net[0] > these.totals.volume_cents.get(currency, 0),
    )


def _is_whole(access: Access, earlier: Sales, before: Days) -> bool:
    """Tells whether the store took payments during all of a range: one within which it began is no
    comparison."""
    if not earlier.summary.totals.order_count:
        return False
    return had_payments_by(access, before.begin + timedelta(days=1))


def ranges(key: str, now: datetime) -> tuple[Days, Days]:
    """Up to this moment of today, and what it is compared with, up to the same time of its last
    day: as many days just before, or the same days of last month."""
    these, before = _days(key, now.date(), now.tzinfo or UTC)
    if key == "month" and these.last.day > before.last.day:
        return these, before  # the month before was shorter, and all of it is over
    until = datetime.combine(before.last, now.timetz())
    return these, replace(before, until=until)


def _days(key: str, today: date, zone: tzinfo) -> tuple[Days, Days]:
    if key != "month":
        length = timedelta(days=int(key))
        first = today - length + timedelta(days=1)
        return Days(first, today, zone), Days(first - length, first - timedelta(days=1), zone)

    first = today.replace(day=1)
    end = first - timedelta(days=1)
    begin = end.replace(day=1)
    return Days(first, today, zone), Days(begin, min(end, begin + (today - first)), zone)


def _currency(access: Access, these: PaymentSummaryDocument) -> str:
    """The store's own; of a store that prices in others alone, the one that brings most."""
    own = access.store.settlement_currency
    return own if own in these.currencies or not these.currencies else these.currencies[0]


def _net(
    access: Access, currency: str, now: Days, before: Days, count: int
) -> tuple[int, int] | None:
    """From the sums that are kept; payment by payment while some were never reconciled, and None of
    more of these than one look may cost."""
    nets = kept_net_cents(access, currency, now, before)
    if nets is not None:
        return nets
    if count > ASKED_MAX:
        return None
    if count < KEPT_FROM:
        return net_cents(access, currency, now, before)
    spans = f"{now.first}:{now.last}:{before.first}:{before.last}:{now.zone}"
    key = f"overview:{access.store_id}:{access.mode}:{currency}:{spans}"
    match value_cache.get(key):
        case (int(gross), int(prior)):
            return gross, prior
    cents = net_cents(access, currency, now, before)
    value_cache.put(key, cents, KEPT_SECONDS)
    return cents


def _figures(
    sales: Sales,
    sales_before: Sales,
    currency: str,
    net: tuple[int, int] | None,
    *,
    is_compared: bool,
) -> list[Figure]:
    these = sales.summary.totals
    earlier = sales_before.summary.totals
    gross = (these.volume_cents.get(currency, 0), earlier.volume_cents.get(currency, 0))
    average = (
        these.avg_order_value_cents.get(currency, 0),
        earlier.avg_order_value_cents.get(currency, 0),
    )
    figures = [
        _sum(gettext("Gross volume"), *gross, currency),
        _sum(gettext(NET), *net, currency)
        if net
        else Figure(
            gettext(NET), "–", note=gettext("Too many payments to total here. See Reports.")
        ),
        _rate(sales, sales_before, currency),
        _sum(gettext("Average payment"), *average, currency),
    ]
    if is_compared:
        return figures
    note = (
        gettext("No full period before")
        if sales_before.summary.totals.order_count
        else gettext("No earlier data")
    )
    return [
        Figure(figure.label, figure.value, note=note if figure.before else figure.note)
        for figure in figures
    ]


def _sum(label: str, now: int, before: int, currency: str) -> Figure:
    if not before:
        return Figure(label, fiat(now, currency))
    permille = (1000 * (now - before) + before // 2) // before if before > 0 else 0
    change = percent(abs(permille))
    return Figure(
        label, fiat(now, currency), change, permille > 0, permille < 0, fiat(before, currency)
    )


def _rate(these: Sales, earlier: Sales, currency: str) -> Figure:
    label = gettext("Success rate")
    now, before = (_permille(sales, currency) for sales in (these, earlier))
    if now is None:
        return Figure(label, "–")
    if before is None:
        return Figure(label, percent(now))
    change = gettext("{number} pts").format(number=decimal_mark(f"{abs(now - before) / 10:g}"))
    return Figure(label, percent(now), change, now > before, now < before, percent(before))


def _permille(sales: Sales, currency: str) -> int | None:
    ended = sales.ended[currency]
    return round(Fraction(1000 * sales.completed[currency], ended)) if ended else None


def _chart(
    these: PaymentSummaryDocument,
    earlier_summary: PaymentSummaryDocument | None,
    currency: str,
    now: Days,
    before: Days,
) -> Chart | None:
    """None without any volume, or on the first of a month: a line needs two days."""
    sums = _by_day(these, currency)
    earlier = [] if earlier_summary is None else _by_day(earlier_summary, currency)
    if len(sums) < 2 or not any([*sums, *earlier]):
        return None
    return line_chart(now.first, sums, before.first, earlier, unit_cents=step_of(currency))


def _by_day(summary: PaymentSummaryDocument, currency: str) -> list[int]:
    return [day.volume_cents.get(currency, 0) for day in summary.timeseries]
