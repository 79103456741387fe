"""Asking for a report: the range is checked in a fixed order, then the record that fits is found or
made, and tried again if need be."""

from datetime import date, datetime, timedelta

import structlog
from django.core.files.storage import storages
from django.db import transaction

from apps.access.access import Access
from apps.core import clock, jobs
from apps.core.errors import Failure, RefusalKind
from apps.core.machine import Step
from apps.core.messages.fields import parse_date
from apps.reports import states
from apps.reports.models import Report
from apps.reports.requests import ReportRequest
from apps.stores.models import Currency

log = structlog.get_logger(__name__)
DAYS_MAX = 366
STALE = timedelta(minutes=5)
PENDING_MAX = 50
# Yesterday is closed for good once today has come this far: what was under way at midnight has
# ended.
CLOSED_AFTER_HOUR = 12


class InvalidRange(Failure):
    """A date is missing or no date, the end is before the start, or the format is unknown."""


class RangeTooLarge(Failure):
    field = "end_date"
    message = "date_range_too_large"

    def __init__(self) -> None:
        super().__init__(max_days=DAYS_MAX)


class RangeUnavailable(Failure):
    field = "end_date"
    message = "date_range_unavailable"

    def __init__(self, through: date) -> None:
        super().__init__(available_through=through.isoformat())
        self.through = through


class TooManyPending(Failure):
    kind = RefusalKind.TOO_MANY
    code = "rate_limited"
    message = "Too many reports are being made; wait for some of them"

    def __init__(self) -> None:
        super().__init__(retry_after=30)


def available_through(now: datetime) -> date:
    """The last day that a report may end on: only days that are closed for good. `now` is store
    time."""
    return now.date() - timedelta(days=1 if now.hour >= CLOSED_AFTER_HOUR else 2)


def request_report(access: Access, request: ReportRequest) -> Report:
    """The report of this type, range, currency and format; made when it is missing, tried again
    when it failed or hangs.

    Raises InvalidRange, RangeTooLarge, RangeUnavailable or TooManyPending.
    """
    now = access.now()
    first, last = _range(request, available_through(now))
    identity = {
        "report_type": request.report_type,
        "period_from": first,
        "period_to": last,
        "currency": request.currency if request.currency in Currency.values else "",
        "format": _format(request),
    }
    real = clock.real_now()
    with transaction.atomic():
        row = Report.objects.visible_to(access).filter(**identity).first()
        if row is None:
            if (
                Report.objects.visible_to(access).filter(status=states.PENDING).count()
                >= PENDING_MAX
            ):
                raise TooManyPending
            born = {"created_at": now, "touched_at": real}
            row, is_new = Report.objects.get_or_create(
                store=access.store, mode=access.mode, **identity, defaults=born
            )
            if is_new:
                jobs.enqueue("reports.generate", row.pk)
    report: Report = row
    if report.status == states.FAILED or (
        report.status == states.PENDING and report.touched_at <= real - STALE
    ):
        try_again(report, real)
    return report


def try_again(report: Report, real: datetime) -> None:
    """Back into the queue, unless somebody was faster."""
    fresh = {"attempts": 0, "error": "", "lines_done": 0, "touched_at": real, "claimed_until": None}
    with transaction.atomic():
        if report.status == states.PENDING:
            Report.objects.filter(
                pk=report.pk, status=states.PENDING, touched_at=report.touched_at
            ).update(**fresh)
        else:
            states.MACHINE.change_status(report, Step(states.PENDING), at=real, **fresh)
        jobs.enqueue("reports.generate", report.pk)
    report.refresh_from_db()


def download_url(report: Report, *, is_sure: bool = True) -> str | None:
    """A link to the file for an hour. When there is none, because storage lost the file or fails,
    the report is made again.

    An index of many reports isn't sure: it links to each without asking the storage for each.
    """
    storage = storages["private"]
    try:
        if not is_sure or storage.exists(report.file_name):
            return str(storage.url(report.file_name))
        log.warning("report_file_lost", report=str(report.pk))
    except Exception as error:  # whatever a storage raises: the caller waits and asks again
        log.warning("report_storage_failed", report=str(report.pk), error=type(error).__name__)
    if is_sure:
        try_again(report, clock.real_now())
    return None


def _range(request: ReportRequest, through: date) -> tuple[date, date]:
    texts = {"start_date": request.start_date, "end_date": request.end_date}
    for name, text in texts.items():
        if not text:
            raise InvalidRange(f"{name} is required", field=name)
    days = {name: parse_date(text) for name, text in texts.items()}
    for name, day in days.items():
        if day is None:
            raise InvalidRange(f"{name} is not a date", field=name)
    first = days["start_date"]
    last = days["end_date"]
    assert first is not None and last is not None
    if last < first:
        raise InvalidRange("end_date must be on or after start_date", field="end_date")
    if (last - first).days >= DAYS_MAX:
        raise RangeTooLarge
    if last > through:
        raise RangeUnavailable(through)
    return first, last


def _format(request: ReportRequest) -> str:
    format = request.format or Report.Format.PDF
    if format not in Report.Format.values:
        raise InvalidRange(
            f"format must be one of {', '.join(Report.Format.values)}", field="format"
        )
    return str(format)
