"""Times of test clocks on the staff site: the machine's time comes first, and what a test clock
said is below it and says so."""

from datetime import datetime, timedelta
from typing import Any, ClassVar
from uuid import UUID

from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.timesince import timesince

from apps.core import ids
from apps.core.models import Mode
from apps.core.templatetags.tillgate import moment

_MINUTE = timedelta(minutes=1)
SAME_TIME = _MINUTE  # of a row's ID and its own: they are read one after the other
_BY_CLOCK = '{} <span class="worth below">{}<span class="one-line">by its test clock</span></span>'


def is_moved(row: Any, own: datetime | None) -> bool:
    """True if a test clock set the time of the row: its ID has the machine's time."""
    at = ids.time_of(row.pk) if isinstance(row.pk, UUID) else None
    return (
        own is not None
        and at is not None
        and abs(own - at) >= SAME_TIME
        and (getattr(row, "mode", None) or row.chain.mode) == Mode.TEST
    )


def made_at(row: Any, own: datetime) -> datetime:
    """Time of making, by the machine's clock."""
    at = ids.time_of(row.pk) if is_moved(row, own) else None
    return own if at is None else at


def made_text(row: Any, own: datetime | None) -> SafeString | str:
    """Time of making, and below it the test clock's time; empty without a time."""
    if own is None or not is_moved(row, own):
        return moment(own)
    return format_html(_BY_CLOCK, moment(made_at(row, own)), format_html("{} ", moment(own)))


def store_text(row: Any, own: datetime | None) -> SafeString | str:
    """A time of whose making no ID tells: that it is by a test clock, where the store's has been
    moved."""
    is_by_clock = row.mode == Mode.TEST and bool(row.store.test_offset_seconds)
    return by_clock(own) if own is not None and is_by_clock else moment(own)


def by_clock(own: datetime) -> SafeString:
    """A time that only a test clock set."""
    return format_html(_BY_CLOCK, moment(own), "")


class PageWithCreationTime:
    """A page of a record that says below its heading since when it is there."""

    has_other_times: ClassVar[bool] = True

    def since_words(self, row: Any, since: datetime) -> list[str]:
        """And how far its clock was from the machine's then: its other times are by that clock."""
        if not is_moved(row, since):
            return [moment(since)]
        if not self.has_other_times:
            return [made_text(row, since)]
        at = made_at(row, since)
        minutes = round((since - at) / _MINUTE)
        apart = timesince(at, at + abs(minutes) * _MINUTE)
        way = "ahead" if minutes > 0 else "behind"
        return [moment(at), f"Other times are on the store’s test clock, {apart} {way} at the time"]
