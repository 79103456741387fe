"""Times of a test mode whose clock isn't the real one: what was written by the test clock is marked
and has the real time beside it, and what was written by real time is marked as that."""

import uuid
from datetime import datetime, timedelta

from django import template
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext

from apps.core.ids import time_of
from apps.core.templatetags.tillgate import moment, second

register = template.Library()
# A clock that was never moved is no other one; rows of one request are made within seconds.
APART = timedelta(minutes=1)


def _is_apart(at: datetime, real: datetime | None) -> bool:
    return real is not None and abs(at - real) > APART


@register.simple_tag
def store_time(at: datetime | None, id: uuid.UUID, *, seconds: bool = False) -> SafeString | str:
    """When a row was made by its store's clock; where that was the test clock's, with a mark and
    the real time, which its ID begins with."""
    if at is None:
        return ""
    text = second(at) if seconds else moment(at)
    real = time_of(id)
    if not _is_apart(at, real):
        return text
    return format_html(
        '{} <span class="badge quiet plain">{}</span><br><span class="small muted">{}</span>',
        text,
        gettext("Test clock"),
        format_html(gettext("Real time {time}"), time=second(real) if seconds else moment(real)),
    )


@register.simple_tag
def real_time(at: datetime | None, is_shifted: bool, *, seconds: bool = False) -> SafeString | str:
    """A time of the machine's on a page of a store whose test clock `is_shifted`."""
    if at is None:
        return ""
    text = second(at) if seconds else moment(at)
    if not is_shifted:
        return text
    return format_html('{} <span class="badge quiet plain">{}</span>', text, gettext("Real time"))
