"""Dates of billing. A period's end is the next one's start; months and years keep the anchor's day
of month, clamped.

Each end is counted from the period's start and the anchor's day, so no clamped month pulls later
ones with it.
"""

from calendar import monthrange
from datetime import UTC, date, datetime, timedelta, tzinfo

DAYS = {"daily": 1, "weekly": 7}
MONTHS = {"monthly": 1, "yearly": 12}
LATE = timedelta(hours=1)
REMINDED_BEFORE = timedelta(days=3)
REMINDED_AFTER = timedelta(days=3)
REMINDED_NOT_WITHIN = timedelta(days=1)  # of the invoice itself


def period_end(
    start: datetime, interval: str, count: int, anchor_day: int, zone: tzinfo = UTC
) -> datetime:
    """End of a period that begins at `start`: the same hour of a day of `zone`, where the anchor's
    day is counted."""
    local = start.astimezone(zone)
    if interval in DAYS:
        return (local + timedelta(days=DAYS[interval] * count)).astimezone(UTC)
    months = local.month - 1 + MONTHS[interval] * count
    year = local.year + months // 12
    month = months % 12 + 1
    day = min(anchor_day, monthrange(year, month)[1])
    return local.replace(year=year, month=month, day=day, fold=0).astimezone(UTC)


def period_days(start: datetime, end: datetime, zone: tzinfo) -> tuple[date, date]:
    """First and last day of a period, which shares none with the next: the day on which that one
    begins is its own."""
    first = start.astimezone(zone).date()
    return first, max(first, end.astimezone(zone).date() - timedelta(days=1))


def due_at(made_at: datetime, start: datetime, end: datetime, due_days: int) -> datetime:
    """Due time of a cycle's invoice: `due_days` into the period, at most its length; for a late one
    the same time from its making."""
    base = start if made_at - start <= LATE else made_at
    return base + min(timedelta(days=due_days), end - start)


def trial_end(start: datetime, days: int) -> datetime:
    return start + timedelta(days=days)


def next_reminder(sent_at: datetime, due: datetime | None, now: datetime) -> datetime | None:
    """Next reminder of a sent invoice: before it is due, unless that follows too soon, and
    after."""
    if due is None:
        return None
    before = due - REMINDED_BEFORE
    after = due + REMINDED_AFTER
    moments = [before, after] if before - sent_at >= REMINDED_NOT_WITHIN else [after]
    return next((moment for moment in moments if moment > now), None)


def reminder_moment(due: datetime, now: datetime) -> datetime:
    """Planned moment of the reminder that is sent now."""
    after = due + REMINDED_AFTER
    return after if now >= after else due - REMINDED_BEFORE
