"""Ranges of days in somebody's time zone, as moments.

The moments are worked out here and passed into SQL: the database may know other zones, or other
rules for them, than whoever chose the zone was offered.
"""

from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta, tzinfo


@dataclass(frozen=True)
class Days:
    """Days of a zone, both inclusive."""

    first: date
    last: date
    zone: tzinfo = UTC

    @property
    def begin(self) -> datetime:
        return datetime.combine(self.first, time(), self.zone)

    @property
    def end(self) -> datetime:
        """The last moment; where a clock is turned back at midnight, the second of the two."""
        return datetime.combine(self.last, time.max.replace(fold=1), self.zone)

    @property
    def every(self) -> list[date]:
        return [self.first + timedelta(days=n) for n in range((self.last - self.first).days + 1)]

    @property
    def begins(self) -> list[datetime]:
        """When each day begins."""
        return [datetime.combine(day, time(), self.zone) for day in self.every]
