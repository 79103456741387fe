"""How business goes: four figures of a range of days beside those of the range before, and gross
volume by day.

The figures are those of `GET /payments/summary`, in one currency and never converted. Days are the
reader's.
"""

from dataclasses import dataclass
from datetime import date, timedelta

from django.utils import timezone

from apps.access.access import Access
from apps.core import value_cache
from apps.core.days import Days
from apps.core.templatetags.tillgate import decimal_mark, fiat, percent
from apps.dashboard import days
from apps.dashboard.charts import Chart, line_chart
from apps.payments.documents.summary import PaymentSummaryDocument, summary_of
from apps.payments.net import kept_net_cents, net_cents
from apps.payments.services.worth import step_of
from apps.payments.states import TERMINAL

RANGES = {"7": "7 days", "30": "30 days", "90": "90 days", "month": "This month"}
DEFAULT = "30"
NET = "Net after fees and refunds"
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
    note: str = "No earlier data"


@dataclass(frozen=True)
class RangeChoice:
    key: str
    label: str
    is_current: bool


@dataclass(frozen=True)
class Overview:
    """`other_volumes` are the volumes in currencies that the figures leave out. The success rate is
    the summary's: payments that can still complete count, which `has_open` says unless all have."""

    choices: list[RangeChoice]
    now: Days
    before: Days
    currency: str
    figures: list[Figure]
    chart: Chart | None
    other_volumes: list[str]
    has_open: bool


def overview(access: Access, chosen: str) -> Overview:
    key = chosen if chosen in RANGES else DEFAULT
    now, before = ranges(key, days.today(access))
    these = summary_of(access, now)
    before_summary = summary_of(access, before)
    currency = _currency(access, these)
    net = _net(
        access, currency, now, before, these.totals.order_count + before_summary.totals.order_count
    )
    return Overview(
        choices=[RangeChoice(name, label, name == key) for name, label in RANGES.items()],
        now=now,
        before=before,
        currency=currency,
        figures=_figures(these, before_summary, currency, net),
        chart=_chart(these, before_summary, currency, now, before),
        other_volumes=[
            fiat(cents, code)
            for code, cents in these.totals.volume_cents.items()
            if cents and code != currency
        ],
        has_open=_permille(these, currency) not in (None, 1000)
        and any(
            number and status not in TERMINAL
            for status, number in these.totals.status_counts.items()
        ),
    )


def ranges(key: str, today: date) -> tuple[Days, Days]:
    """Up to today, and what it is compared with: as many days just before, or the same days of last
    month."""
    zone = timezone.get_current_timezone()
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
    key = f"overview:{access.store_id}:{access.mode}:{currency}:{now.first}:{now.last}:{now.zone}"
    match value_cache.get(key):
        case (int(gross), int(prior)):
            return gross, prior
    cents = net_cents(access, currency, now, before)
    value_cache.put(key, cents, KEPT_SECONDS)
    return cents


def _figures(
    these: PaymentSummaryDocument,
    earlier: PaymentSummaryDocument,
    currency: str,
    net: tuple[int, int] | None,
) -> list[Figure]:
    gross = (
        these.totals.volume_cents.get(currency, 0),
        earlier.totals.volume_cents.get(currency, 0),
    )
    average = (
        these.totals.avg_order_value_cents.get(currency, 0),
        earlier.totals.avg_order_value_cents.get(currency, 0),
    )
    return [
        _sum("Gross volume", *gross, currency),
        _sum(NET, *net, currency)
        if net
        else Figure(NET, "–", note="Too many payments to total here. See Reports."),
        _rate(these, earlier, currency),
        _sum("Average payment", *average, currency),
    ]


def _sum(label: str, now: int, before: int, currency: str) -> Figure:
    if not before:
        return Figure(label, fiat(now, currency))
    permille = (1000 * (now - before) + before // 2) // before if before > 0 else 0
    change = percent(abs(permille))
    return Figure(
        label, fiat(now, currency), change, permille > 0, permille < 0, fiat(before, currency)
    )


def _rate(these: PaymentSummaryDocument, earlier: PaymentSummaryDocument, currency: str) -> Figure:
    label = "Success rate"
    now, before = (_permille(summary, currency) for summary in (these, earlier))
    if now is None:
        return Figure(label, "–")
    if before is None:
        return Figure(label, percent(now))
    change = f"{decimal_mark(f'{abs(now - before) / 10:g}')} pts"
    return Figure(label, percent(now), change, now > before, now < before, percent(before))


def _permille(summary: PaymentSummaryDocument, currency: str) -> int | None:
    rate = summary.totals.success_rate_by_currency.get(currency)
    return None if rate is None else round(rate * 1000)


def _chart(
    these: PaymentSummaryDocument,
    earlier_summary: PaymentSummaryDocument,
    currency: str,
    now: Days,
    before: Days,
) -> Chart | None:
    """None without any volume, or on the first of a month: a line needs two days."""
    sums = _by_day(these, currency)
    earlier = _by_day(earlier_summary, currency)
    if len(sums) < 2 or not any([*sums, *earlier]):
        return None
    return line_chart(now.first, sums, before.first, earlier, unit_cents=step_of(currency))


def _by_day(summary: PaymentSummaryDocument, currency: str) -> list[int]:
    return [day.volume_cents.get(currency, 0) for day in summary.timeseries]
