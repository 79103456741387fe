"""The days of a chart as HTML: their strips of the plot and their lines of the table below it. Each
day and sum is formatted once, where a template would format it four times."""

from typing import NamedTuple

from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from apps.core.templatetags.tillgate import day_of_week, fiat
from apps.dashboard.books.charts import Bar, Chart

_NONE = "–"


class ChartDays(NamedTuple):
    """`strips` are in the order of the plot, `rows` newest first."""

    strips: SafeString
    rows: SafeString


class _Words(NamedTuple):
    """A day of the chart and the one it is compared with, if there is one."""

    bar: Bar
    day: str
    sum: str
    day_before: str
    sum_before: str


def chart_days(chart: Chart, currency: str) -> ChartDays:
    is_compared = bool(chart.before)
    days = [_words(bar, currency, is_compared=is_compared) for bar in chart.bars]
    return ChartDays(
        format_html_join("\n", "{}", ((_strip(day),) for day in days)),
        format_html_join(
            "\n", "{}", ((_row(day, is_compared=is_compared),) for day in reversed(days))
        ),
    )


def _words(bar: Bar, currency: str, *, is_compared: bool) -> _Words:
    day, total = day_of_week(bar.day), fiat(bar.cents, currency)
    if not is_compared or bar.day_before is None:
        return _Words(bar, day, total, "", "")
    return _Words(bar, day, total, day_of_week(bar.day_before), fiat(bar.cents_before, currency))


def _strip(words: _Words) -> SafeString:
    before = f". {words.day_before}: {words.sum_before}" if words.day_before else ""
    return format_html(
        '<rect class="bar" x="{}" y="0" width="{}" height="1000"><title>{}: {}{}</title></rect>',
        words.bar.start,
        words.bar.width,
        words.day,
        words.sum,
        before,
    )


def _row(words: _Words, *, is_compared: bool) -> SafeString:
    before = (
        format_html(
            '<td class="muted">{}</td><td class="number muted">{}</td>',
            words.day_before or _NONE,
            words.sum_before or _NONE,
        )
        if is_compared
        else ""
    )
    return format_html(
        '<tr><th scope="row">{}</th><td class="number">{}</td>{}</tr>',
        words.day,
        words.sum,
        before,
    )
