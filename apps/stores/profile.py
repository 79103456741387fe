"""A person's profile for pages and emails: name, time zone, language and the form of dates and
numbers.

A zone is a name of the IANA's list. Nobody has to choose one: a browser tells its own, and without
either times are in UTC.
"""

from functools import cache
from typing import Annotated
from zoneinfo import ZoneInfo, available_timezones

from django.conf import settings
from django.db import transaction
from django.utils import translation

from apps.core.errors import Failure
from apps.core.messages.fields import Text
from apps.core.messages.requests import Request, by
from apps.core.text import regions
from apps.stores.auditing import audit
from apps.stores.models import User

UTC_NAME = "UTC"
# What else the list has are aliases, and abbreviations that mean several places.
_REGIONS = (
    "Africa",
    "America",
    "Antarctica",
    "Arctic",
    "Asia",
    "Atlantic",
    "Australia",
    "Europe",
    "Indian",
    "Pacific",
)


class UnknownZone(Failure):
    field = "time_zone"
    message = "Choose a time zone from the list"


class UnknownLanguage(Failure):
    field = "language"
    message = "Choose a language from the list"


class UnknownRegion(Failure):
    field = "region"
    message = "Choose a format from the list"


class ProfileRequest(Request, frozen=True, kw_only=True):
    """A person's own settings; without a zone or a language, those of the browser, without a
    region, the form of the language."""

    name: Annotated[str, by(Text(100, shortest=1, trim=True))]
    time_zone: Annotated[str, by(Text(64))] | None = None
    language: Annotated[str, by(Text(10))] | None = None
    region: Annotated[str, by(Text(10))] | None = None


@cache
def zone_names() -> tuple[str, ...]:
    """Names of zones to choose from, UTC first."""
    names = (zone for zone in available_timezones() if zone.partition("/")[0] in _REGIONS)
    return (UTC_NAME, *sorted(names))


def zone_of(user: User, browsers: str = "") -> ZoneInfo:
    """The zone of a person: the one they chose, else their browser's, else UTC."""
    names = zone_names()
    return ZoneInfo(next((name for name in (user.time_zone, browsers) if name in names), UTC_NAME))


def language_of(user: User, browsers: str = "") -> str:
    """The language of a person's pages: the one they chose, else their browser's, else English."""
    codes = dict(settings.DASHBOARD_LANGUAGES)
    wanted = (user.language, browsers)
    return next((code for code in wanted if code in codes), settings.LANGUAGE_CODE)


def page_language() -> str:
    """The language of the page that is answered now, if it is another than English that the
    dashboard has; else empty."""
    code = translation.get_language() or ""
    others = set(dict(settings.DASHBOARD_LANGUAGES)) - {settings.LANGUAGE_CODE}
    return code if code in others else ""


def change_profile(user: User, request: ProfileRequest) -> None:
    """Counts from the next page on. Raises UnknownZone, UnknownLanguage or UnknownRegion."""
    zone = request.time_zone or ""
    language = request.language or ""
    region = request.region or ""
    if zone and zone not in zone_names():
        raise UnknownZone
    if language and language not in dict(settings.DASHBOARD_LANGUAGES):
        raise UnknownLanguage
    if region and region not in regions.REGIONS:
        raise UnknownRegion
    user.name = request.name
    user.time_zone = zone
    user.language = language
    user.region = region
    with transaction.atomic():
        user.save(update_fields=["name", "time_zone", "language", "region"])
        audit.record("profile.changed", target=user, name=user.email)
