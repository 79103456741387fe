"""Days as the reader's clock has them: what is typed into a filter begins and ends at the reader's
midnight."""

from datetime import date, datetime, time, timedelta

from django.utils import timezone

from apps.access.access import Access


def begin(day: date) -> datetime:
    return datetime.combine(day, time(), timezone.get_current_timezone())


def end(day: date) -> datetime | None:
    """When the next one begins; None after the last day that there is."""
    return begin(day + timedelta(days=1)) if day < date.max else None


def today(access: Access) -> date:
    """By the store's clock."""
    return timezone.localtime(access.now()).date()
