"""Ranges of days in somebody's time zone, as moments.

The moments are worked out here and passed into SQL: the database may know other zones, or other
rules for them, than the person who chose the zone was offered.
"""

from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta, tzinfo
from functools import cache
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

UTC_NAME = "UTC"


@cache
def zone_named(name: str) -> ZoneInfo:
    """A zone by the name that was chosen; UTC without one, and where the machine has none of that
    name any more."""
    try:
        return ZoneInfo(name or UTC_NAME)
    except (ZoneInfoNotFoundError, ValueError):
        return ZoneInfo(UTC_NAME)


def end_of_day(day: date, zone: tzinfo) -> datetime:
    """Its last second; where a clock is turned back at midnight, the second of the two."""
    return datetime.combine(day, time(23, 59, 59, fold=1), zone)


@dataclass(frozen=True)
class Days:
    """Days of a zone, both inclusive; the last one only `until` a moment, where there is one."""

    first: date
    last: date
    zone: tzinfo = UTC
    until: datetime | None = None

    @property
    def begin(self) -> datetime:
        return datetime.combine(self.first, time(), self.zone)

    @property
    def end(self) -> datetime:
        """The last moment; where a clock is turned back at midnight, the second of the two."""
        return self.until or datetime.combine(self.last, time.max.replace(fold=1), self.zone)

    @property
    def every(self) -> list[date]:
        return [self.first + timedelta(days=n) for n in range((self.last - self.first).days + 1)]

    @property
    def begins(self) -> list[datetime]:
        """Start of each day."""
        return [datetime.combine(day, time(), self.zone) for day in self.every]
