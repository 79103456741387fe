"""Dates of billing. A period's end is the next one's start; months and years keep the anchor's day
of month, clamped.

Each end is counted from the period's start and the anchor's day, so no clamped month pulls later
ones with it.
"""

from calendar import monthrange
from datetime import datetime, timedelta

DAYS = {"daily": 1, "weekly": 7}
MONTHS = {"monthly": 1, "yearly": 12}
LATE = timedelta(hours=1)
REMINDED_BEFORE = timedelta(days=3)
REMINDED_AFTER = timedelta(days=3)
REMINDED_NOT_WITHIN = timedelta(days=1)  # of the invoice itself


def period_end(start: datetime, interval: str, count: int, anchor_day: int) -> datetime:
    """When a period that begins at `start` ends."""
    if interval in DAYS:
        return start + timedelta(days=DAYS[interval] * count)
    months = start.month - 1 + MONTHS[interval] * count
    year = start.year + months // 12
    month = months % 12 + 1
    return start.replace(year=year, month=month, day=min(anchor_day, monthrange(year, month)[1]))


def due_at(made_at: datetime, start: datetime, end: datetime, due_days: int) -> datetime:
    """When a cycle's invoice must be paid: `due_days` into the period, at most its length; one made
    late gives as long from then."""
    base = start if made_at - start <= LATE else made_at
    return base + min(timedelta(days=due_days), end - start)


def trial_end(start: datetime, days: int) -> datetime:
    return start + timedelta(days=days)


def next_reminder(sent_at: datetime, due: datetime | None, now: datetime) -> datetime | None:
    """When the customer is reminded next of an invoice that was sent: before it is due, unless that
    follows too soon, and after."""
    if due is None:
        return None
    before = due - REMINDED_BEFORE
    after = due + REMINDED_AFTER
    moments = [before, after] if before - sent_at >= REMINDED_NOT_WITHIN else [after]
    return next((moment for moment in moments if moment > now), None)


def reminder_moment(due: datetime, now: datetime) -> datetime:
    """When the reminder that is to be sent now was planned."""
    after = due + REMINDED_AFTER
    return after if now >= after else due - REMINDED_BEFORE
