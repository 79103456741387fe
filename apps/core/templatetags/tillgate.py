"""Tags for amounts, times, statuses, addresses, icons and QR codes: every template's only way.

Amounts come in as ints (cents, atomic units). Only `crypto_short`, for lists, rounds coins, with
the whole amount in its title; coins that add up are whole. Whatever a tag is given
is escaped.
"""

import re
from datetime import UTC, date, datetime, time, tzinfo
from functools import lru_cache

from babel.numbers import (
    format_compact_currency,
    format_currency,
    format_decimal,
    format_percent,
    get_currency_precision,
    get_decimal_symbol,
)
from django import template
from django.conf import settings
from django.urls import reverse
from django.utils import timezone
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import (
    get_language,
    get_language_bidi,
    gettext,
    gettext_lazy,
    ngettext_lazy,
)

from apps.core import money
from apps.core.badges import QUIET, all_badges, coin_badge, coin_sign
from apps.core.text import icons
from apps.core.text.moments import (
    as_utc,
    dated,
    day_by,
    in_zone,
    list_pattern,
    time_of,
    without_year,
    zone_name,
)
from apps.core.text.regions import formatted, isolated, own_locale, set_apart
from apps.core.text.wording import translated

register = template.Library()
_ = gettext_lazy
UNBROKEN_MAX = 24  # characters that fit a line of a phone
ICONS_KEPT_MAX = 256
GROUPED_MAX = 27
_PERIODS = re.compile(r"(?<=\.)(?=[^.\d])")  # not those of amounts
_SLASHES = re.compile(r"(?<=[^/:]/)(?=[^/])")


@register.filter
def fiat(cents: int, currency: str) -> str:
    """1250 with EUR: €12.50, in the reader's language. A currency without a sign is separate from
    its digits: CHF 12.50."""
    return _fiat(cents, currency, currency_digits=True)


@register.filter
def fiat_exact(cents: int, currency: str) -> str:
    """Fiat amount without rounding: lines that have to add up keep the hundredths of a yen."""
    unit = 10 ** (2 - get_currency_precision(currency))
    return _fiat(cents, currency, currency_digits=int(cents) % unit == 0)


@register.filter
def fiat_rate(rate: str, currency: str) -> str:
    """Price of one coin: €1,800.50, €0.9212, with every place that the text has."""
    text = format_currency(rate, currency, locale=own_locale(), decimal_quantization=False)
    return isolated(set_apart(text))


@register.filter
def fiat_short(cents: int, currency: str) -> str:
    """A label of an axis: €800, €2.5K. Only for round sums."""
    text = format_compact_currency(
        money.text_from_cents(int(cents)), currency, locale=own_locale(), fraction_digits=1
    )
    return set_apart(text)


def _fiat(cents: int, currency: str, *, currency_digits: bool) -> str:
    amount = money.Fiat(int(cents), currency)
    text = formatted(amount, own_locale(), currency_digits=currency_digits)
    return isolated(text.replace("-", _minus()) if amount.cents < 0 else text)


def _minus() -> str:
    """As CLDR has it for the language: in Arabic a mark before it keeps it at the left of its
    digits."""
    sign: str = own_locale().number_symbols["latn"]["minusSign"]
    return sign.replace("-", money.MINUS)


@register.filter
def negative(cents: int) -> int:
    """A deduction: `|negative|fiat`, whose sign is where the language has it."""
    return -int(cents)


@register.simple_tag
def page_language() -> str:
    return get_language() or ""


@register.simple_tag
def page_direction() -> str:
    """Direction of the page's text."""
    return "rtl" if get_language_bidi() else "ltr"


@register.filter
def one_line(text: str) -> str:
    """A paragraph of plain text that its template lays out on several lines."""
    return " ".join(text.split())


@register.filter(is_safe=True)
def isolated_lines(text: str) -> str:
    """Isolated text of several lines: an isolate ends with its line."""
    return "\n".join(isolated(line) for line in text.splitlines())


@register.filter
def unbroken(text: str) -> SafeString:
    """A number such as INV-0005 moves to the next line as a whole, with the period after it; only
    one that may be longer than a line breaks."""
    kind = "nowrap" if len(text) <= UNBROKEN_MAX else "whole"
    return format_html('<bdi class="{}">{}</bdi>', kind, text)


@register.filter
def count(number: int) -> str:
    """A whole number with the reader's separators."""
    return format_decimal(str(number), locale=own_locale())


@register.simple_tag
def crypto(amount_atomic: int | str, atomic_decimals: int, symbol: str = "") -> SafeString:
    """Coins with every place that matters and the reader's separators."""
    text = grouped(money.decimal_from_atomic(int(amount_atomic), atomic_decimals))
    return _with_unit(text, symbol)


@register.simple_tag
def crypto_plain(amount_atomic: int | str, atomic_decimals: int, symbol: str = "") -> SafeString:
    """Coin amount without grouping, for coins that a customer still sends: a wallet takes the typed
    amount. What has been sent or received is grouped."""
    plain = money.decimal_from_atomic(int(amount_atomic), atomic_decimals)
    return format_html(
        '<bdi class="amount" data-plain="{}">{}{}</bdi>',
        plain,
        decimal_mark(plain),
        format_html(' <span class="unit">{}</span>', symbol) if symbol else "",
    )


def _with_unit(text: str, symbol: str) -> SafeString:
    if not symbol:
        return format_html('<bdi class="amount">{}</bdi>', text)
    return format_html('<bdi class="amount">{} <span class="unit">{}</span></bdi>', text, symbol)


@register.simple_tag
def crypto_text(amount_atomic: int | str, atomic_decimals: int, symbol: str) -> str:
    """Result of `crypto` as bare text, for files and emails."""
    text = grouped(money.decimal_from_atomic(int(amount_atomic), atomic_decimals))
    return isolated(f"{text} {symbol}")


@register.simple_tag
def crypto_short(
    amount_atomic: int | str, atomic_decimals: int, symbol: str, *, rounds_down: bool = False
) -> SafeString:
    """Coin amount in six significant digits, for lists: the whole amount is in its title."""
    whole = money.decimal_from_atomic(int(amount_atomic), atomic_decimals)
    short = coins_short(amount_atomic, atomic_decimals, rounds_down=rounds_down)
    markup = '<bdi class="amount" title="{} {}">{} <span class="unit">{}</span></bdi>'
    return format_html(markup, whole, symbol, short, symbol)


register.filter(isolated)
register.filter(translated)
register.simple_tag(coin_badge)
register.simple_tag(coin_sign)


@register.filter
def percent(permille: int) -> str:
    """123 as 12.3% and 120 as 12%, in the reader's form."""
    locale = own_locale()
    pattern = locale.percent_formats[None].pattern.replace("0", "0.#", 1)
    return format_percent(f"{int(permille)}e-3", pattern, locale=locale)


@register.filter
def percentage(points: str) -> str:
    """`2.00` as 2% and `1.25` as 1.25%, in the reader's form."""
    locale = own_locale()
    pattern = locale.percent_formats[None].pattern.replace("0", "0.######", 1)
    return format_percent(f"{points}e-2", pattern, locale=locale)


@register.filter
def decimal_mark(number: str) -> str:
    """A plain number (`0.0138`) as it is shown: with the reader's decimal mark, and still every
    digit."""
    return str(number).replace(".", get_decimal_symbol(own_locale()))


@register.filter
def grouped(number: str) -> str:
    """A plain number (`-1234.5`) in the reader's form: −1,234.5, with every digit that it has."""
    whole, _, places = str(number).removeprefix("-").partition(".")
    # Babel reckons with no more digits, and no coin has as many: one that claims to is still shown
    text = whole if len(whole) > GROUPED_MAX else format_decimal(whole, locale=own_locale())
    text = f"{text}{get_decimal_symbol(own_locale())}{places}" if places else text
    return f"{money.MINUS}{text}" if str(number).startswith("-") else text


@register.simple_tag
def coins_short(
    amount_atomic: int | str, atomic_decimals: int, *, rounds_down: bool = False
) -> str:
    """Coins in six significant digits as bare text, for lists and choices. What is available
    rounds down: anyone who asks for the figure gets it."""
    short = money.short_from_atomic(int(amount_atomic), atomic_decimals, rounds_down=rounds_down)
    return grouped(short)


@register.simple_tag
def coins(amount_atomic: int | str, atomic_decimals: int) -> str:
    """Coins as bare text with a point, as a wallet takes them: to be copied. To be shown it goes
    through `decimal_mark`."""
    return money.decimal_from_atomic(int(amount_atomic), atomic_decimals)


@register.filter
def in_fours(address: str) -> SafeString:
    """An address to be compared by eye, its ends strong; copied by hand it is whole, for the gaps
    are no characters."""
    groups = [address[:6], *(address[at : at + 4] for at in range(6, len(address), 4))]
    parts = (
        format_html("<b>{}</b>" if at in (0, len(groups) - 1) else "<span>{}</span>", group)
        for at, group in enumerate(groups)
    )
    return format_html('<bdi class="fours" dir="ltr">{}</bdi>', mark_safe("".join(parts)))  # noqa: S308  each was escaped


@register.filter
def email_text(text: str) -> SafeString:
    """An email address, alone or among words, which breaks before its @ where a line is too short
    for all of it; a half that is long itself, also after its periods."""
    local, at, domain = text.rpartition("@")
    if not at or not local:
        return format_html("{}", text)
    return format_html("{}<wbr>@{}", _by_periods(local), _by_periods(domain))


def _by_periods(text: str) -> SafeString:
    parts = _PERIODS.split(text) if len(text) > UNBROKEN_MAX else [text]
    return format_html_join(mark_safe("<wbr>"), "{}", ((part,) for part in parts))  # ours alone


@register.filter
def url_text(text: str) -> SafeString:
    """A URL, which breaks after its slashes (browsers do so only before letters). A long part
    begins a line and fills its lines evenly, as a hash does."""
    parts = ((_whole(part),) for part in _SLASHES.split(text))
    return format_html_join(mark_safe("<wbr>"), "{}", parts)  # ours alone


def _whole(part: str) -> SafeString | str:
    is_short = len(part) <= UNBROKEN_MAX or " " in part
    return part if is_short else format_html('<span class="whole hash">{}</span>', part)


@register.filter
def ellipsis(text: str) -> str:
    """The beginning of a secret, which the API ends in three points, as pages write it."""
    return f"{text.removesuffix('...')}…" if text.endswith("...") else text


@register.filter
def shorten(text: str) -> str:
    """An address or hash by its ends: 0x52ab…91fe. Only where the whole is near."""
    return text if len(text) <= 14 else f"{text[:6]}…{text[-4:]}"


@register.simple_tag
def zone(named: tzinfo | None = None) -> str:
    """Name of the reader's zone, or of another, as of now: for labels of days that are typed."""
    return zone_name(timezone.localtime(timezone=named))


@register.filter
def moment(value: datetime | str | None) -> str:
    """Day and minute in the reader's zone, which a view activates (UTC without one); the second in
    UTC is in its title."""
    return in_zone(value, "d MMM y, HH:mm")


@register.filter
def plain_moment(value: datetime | str) -> str:
    """Moment as bare text, for emails."""
    own = timezone.localtime(as_utc(value))
    return f"{dated(own, 'd MMMM y, HH:mm')} {zone_name(own)}"


@register.filter
def second(value: datetime | str | None) -> str:
    """Day and second, where the order of things matters."""
    return in_zone(value, "d MMM y, HH:mm:ss")


@register.filter
def plain_day(value: datetime | str, zone: tzinfo | None = None) -> str:
    """The day as bare text, for emails; in the reader's zone unless another is named."""
    return dated(timezone.localtime(as_utc(value), zone), "d MMMM y")


@register.filter
def day(value: datetime | str | None) -> str:
    """The day alone, in the reader's zone."""
    return day_by(value, "d MMM y") if value else ""


@register.filter
def list_day(value: datetime | str | None) -> str:
    """Day in a list, without this year."""
    return day_by(value, list_pattern(as_utc(value))) if value else ""


@register.filter
def list_moment(value: datetime | str | None) -> str:
    """Day and minute in a list, without this year."""
    return in_zone(value, f"{list_pattern(as_utc(value))}, HH:mm") if value else ""


@register.filter
def day_of_year(value: date) -> str:
    """4 Nov, in the reader's form: where the year is known."""
    return without_year(value, "d MMM", "MMMd")


@register.filter
def day_of_week(value: date) -> str:
    """Wed 4 Nov, in the reader's form."""
    return without_year(value, "EEE d MMM", "MMMEd")


@register.filter
def document_day(value: datetime | str | None, zone: tzinfo = UTC) -> str:
    """A day as documents name it for everybody, in their own zone: when an invoice is due."""
    if not value:
        return ""
    at = as_utc(value)
    return time_of(at, dated(at.astimezone(zone), "d MMM y"))


@register.filter
def document_date(value: date | None, last: date | None = None) -> str:
    """A day of no zone, as documents name it, or the first and the last of several."""
    days = dict.fromkeys(day for day in (value, last) if day is not None)
    return " – ".join(dated(datetime.combine(day, time(), UTC), "d MMM y") for day in days)


@register.filter
def document_period(words: str) -> SafeString | str:
    """`2026-11-22 to 2026-12-22`, as invoices of subscriptions are described, in days as documents
    name them."""
    try:
        first, last = (
            datetime.fromisoformat(f"{day}T00:00:00+00:00") for day in words.split(" to ")
        )
    except ValueError:
        return words
    return format_html(
        '<span class="nowrap">{} – {}</span>', document_day(first), document_day(last)
    )


@register.filter
def labeled_period(words: str) -> SafeString | str:
    """Period with its label, where nothing beside it says which days these are."""
    period = document_period(words)
    if period is words:
        return words
    return format_html(gettext("Billing period: {period}"), period=period)


_DAYS = ngettext_lazy("%d day", "%d days")
_HOURS = ngettext_lazy("%d hour", "%d hours")
_MINUTES = ngettext_lazy("%d minute", "%d minutes")
_SECONDS = ngettext_lazy("%d second", "%d seconds")


@register.filter
def span(seconds: int) -> str:
    """A length of time in words: days and hours, hours and minutes, minutes; under two minutes also
    the seconds."""
    seconds = max(0, int(seconds))
    days = seconds // 86400
    hours = seconds // 3600 % 24
    minutes = seconds // 60 % 60
    if days:
        parts = [(days, _DAYS), (hours, _HOURS)]
    elif hours:
        parts = [(hours, _HOURS), (minutes, _MINUTES)]
    elif seconds >= 120:
        parts = [(minutes, _MINUTES)]
    else:
        parts = [(minutes, _MINUTES), (seconds % 60, _SECONDS)]
    return " ".join(words % number for number, words in parts if number) or _SECONDS % 0


# interval -> (one of them, so many of them)
_CYCLES = {
    "daily": (_("every day"), _("every %d days")),
    "weekly": (_("every week"), _("every %d weeks")),
    "monthly": (_("every month"), _("every %d months")),
    "yearly": (_("every year"), _("every %d years")),
}


@register.simple_tag
def cycle_words(interval: str, interval_count: int) -> str:
    """Billing interval of a price: `every month`, `every 3 months`."""
    single, many = _CYCLES[interval]
    return str(single) if interval_count == 1 else str(many) % interval_count


@register.simple_tag
def badge(noun: str, status: str, kind: str = "") -> SafeString:
    """A status as a badge: never by colour alone. `kind` overrides the tone."""
    tone, words = (
        all_badges().get(noun, {}).get(status, (QUIET, status.replace("_", " ").capitalize()))
    )
    return format_html('<span class="badge {}">{}</span>', kind or tone, words)


@register.simple_tag
def status_words(noun: str, status: str) -> str:
    """The badge's words alone."""
    entry = all_badges().get(noun, {}).get(status)
    return str(entry[1]) if entry else status


@register.simple_tag
def status_tone(noun: str, status: str) -> str:
    """The badge's colour alone."""
    entry = all_badges().get(noun, {}).get(status)
    return entry[0] if entry else QUIET


@register.simple_tag
def icon(name: str, size: int = 20, label: str = "") -> SafeString:
    """A heroicon; without a label it is decoration."""
    return _drawn_icon(name, size, str(label))


@lru_cache(maxsize=ICONS_KEPT_MAX)
def _drawn_icon(name: str, size: int, label: str) -> SafeString:
    """A page has dozens, of few kinds: drawn anew each time they took a twentieth of what a page
    takes."""
    style = "micro" if size <= 16 else "mini" if size <= 20 else "outline"
    spoken = (
        {"role": "img", "aria-label": label, "aria-hidden": "false"}
        if label
        else {"aria-hidden": "true"}
    )
    drawn = icons.drawn(style, name, size, {"class": "icon", **spoken})
    return mark_safe(drawn)  # noqa: S308  the library's own markup; ElementTree escapes the attributes


@register.simple_tag
def qr(text: str, label: str) -> SafeString:
    """A QR code with its quiet zone (ISO 18004), for dark mode too; its text is on the page."""
    import segno  # most processes draw none

    drawn = segno.make_qr(text, error="m").svg_inline(
        border=4, omitsize=True, svgclass=None, lineclass=None
    )
    svg = mark_safe(drawn)  # noqa: S308  our own drawing
    return format_html('<div class="qr" role="img" aria-label="{}">{}</div>', label, svg)


@register.simple_tag
def docs_address() -> str:
    """The documentation, at the API's host where that has one of its own."""
    return (settings.API_URL if settings.API_HOST else "") + reverse("docs")
