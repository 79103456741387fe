"""Days as the reader's clock has them: what is typed into a filter begins and ends at the reader's
midnight. Days of the books, on statements, in reports and figures, are the store's."""

from datetime import date, datetime, time, timedelta, tzinfo

from django.utils import timezone

from apps.access.access import Access
from apps.core.text.days import zone_named


def begin(day: date, zone: tzinfo | None = None) -> datetime:
    return datetime.combine(day, time(), zone or timezone.get_current_timezone())


def end(day: date, zone: tzinfo | None = None) -> datetime | None:
    """Start of the next day; None after the last day that there is."""
    return begin(day + timedelta(days=1), zone) if day < date.max else None


def today(access: Access, zone: tzinfo | None = None) -> date:
    """By the store's clock."""
    return timezone.localtime(access.now(), zone).date()


def zone_of_books(access: Access) -> tzinfo:
    """The store's zone; of a store that chose none, the reader's."""
    name = access.store.time_zone
    return zone_named(name) if name else timezone.get_current_timezone()
