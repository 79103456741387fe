"""Moments and days in the reader's zone and form: the base of the tags of pages and the cells of
lists."""

from datetime import UTC, date, datetime
from functools import lru_cache

from babel import Locale
from babel.dates import format_date, format_skeleton
from django.utils import timezone
from django.utils.html import format_html
from django.utils.safestring import SafeString

from apps.core import clock
from apps.core.text import regions
from apps.core.text.regions import isolated, own_locale

DAYS_KEPT_MAX = 1024
# Hours as patterns of CLDR and as strftime writes them, whose digits are Latin in every language.
_CLOCKS = {"HH:mm": "%H:%M", "HH:mm:ss": "%H:%M:%S"}


def as_utc(value: datetime | str) -> datetime:
    return (datetime.fromisoformat(value) if isinstance(value, str) else value).astimezone(UTC)


def _is_plain_english() -> bool:
    return own_locale().language == "en" and regions.chosen() is None


def dated(own: datetime, pattern: str) -> str:
    """By a pattern of ours in English; by the reader's own order of day, month and year in every
    other language or chosen form."""
    if pattern in _CLOCKS:
        return own.strftime(_CLOCKS[pattern])
    locale = own_locale()
    day, _, hour = pattern.partition(", ")
    time = own.strftime(_CLOCKS[hour]) if hour else ""
    if _is_plain_english():
        date = _day_by_pattern(own.date(), day, locale)
        return f"{date}, {time}" if hour else date
    date = (
        _day_by_pattern(own.date(), "long", locale)
        if "MMMM" in day
        else _day_by_skeleton(own.date(), "yMMMd" if "y" in day else "MMMd", locale)
    )
    if not hour:
        return isolated(date)
    joined: str = locale.datetime_formats["medium"]
    return isolated(joined.replace("{1}", date).replace("{0}", time))


def zone_name(at: datetime) -> str:
    """Name of a zone at a moment: CET, or UTC+03 where it has no name but its offset."""
    name = at.tzname() or ""
    return f"UTC{name}" if name[:1] in "+-" else name


def in_zone(value: datetime | str | None, pattern: str) -> str:
    """The zone stays on the line of its time."""
    if not value:
        return ""
    return time_of(as_utc(value), plain_in_zone(value, pattern))


def plain_in_zone(value: datetime | str, pattern: str) -> str:
    """Moment as bare text."""
    own = timezone.localtime(as_utc(value))
    return f"{dated(own, pattern)}\N{NO-BREAK SPACE}{zone_name(own)}"


def day_by(value: datetime | str, pattern: str) -> SafeString:
    at = as_utc(value)
    return time_of(at, dated(timezone.localtime(at), pattern))


def list_pattern(at: datetime) -> str:
    """A day as lists write it: without its year while that lasts, so that a row keeps one line."""
    is_this_year = timezone.localtime(at).year == timezone.localtime(clock.real_now()).year
    return "d MMM" if is_this_year else "d MMM y"


def without_year(value: date, pattern: str, skeleton: str) -> str:
    locale = own_locale()
    if _is_plain_english():
        return _day_by_pattern(value, pattern, locale)
    return isolated(_day_by_skeleton(value, skeleton, locale))


# A chart names each of its days four times, a list in most of its rows, and so does the next page.
@lru_cache(maxsize=DAYS_KEPT_MAX)
def _day_by_pattern(value: date, pattern: str, locale: Locale) -> str:
    return format_date(value, pattern, locale)


@lru_cache(maxsize=DAYS_KEPT_MAX)
def _day_by_skeleton(value: date, skeleton: str, locale: Locale) -> str:
    return format_skeleton(skeleton, value, locale=locale)


def time_of(at: datetime, text: str) -> SafeString:
    whole = at.strftime("%Y-%m-%d %H:%M:%S UTC")
    return format_html('<time datetime="{}" title="{}">{}</time>', at.isoformat(), whole, text)
