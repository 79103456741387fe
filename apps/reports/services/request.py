"""Asking for a report: the range is checked in a fixed order, then the record that fits is found or
made, and tried again if need be."""

import re
from datetime import date, datetime, timedelta

import structlog
from django.core.files.storage import storages
from django.db import transaction
from django.utils.translation import gettext_noop

from apps.access.access import Access
from apps.core import clock, jobs
from apps.core.errors import Failure, RefusalKind
from apps.core.machine import Step
from apps.core.messages.fields import parse_date
from apps.core.text.days import UTC_NAME, zone_named
from apps.core.text.wording import Worded
from apps.reports import states
from apps.reports.account_codes import LINES, codes_of
from apps.reports.documents import csv_file, journal_file
from apps.reports.documents.statement_lines import RateMissing
from apps.reports.models import Report
from apps.reports.requests import ReportRequest
from apps.stores.models import Currency
from apps.stores.profile import zone_names

log = structlog.get_logger(__name__)
DAYS_MAX = 366
STALE = timedelta(minutes=5)
PENDING_MAX = 50
_SHEETS = (Report.Format.PDF, *csv_file.SEPARATORS)
_JOURNALS = (*journal_file.JOURNALS, Report.Format.DATEV)
_STATEMENTS = (
    Report.Format.XERO,
    Report.Format.QUICKBOOKS,
    Report.Format.OFX,
    Report.Format.CAMT053,
)
FORMATS: dict[str, tuple[str, ...]] = {
    Report.Type.ACCOUNTING_TRANSACTIONS: (*_SHEETS, *_JOURNALS),
    Report.Type.MERCHANT_STATEMENT: (*_SHEETS, *_STATEMENTS),
    Report.Type.TAX_REPORT: _SHEETS,
}
# Books have the store's days unless others are asked for.
OF_THE_STORES_DAYS = frozenset({*_JOURNALS, *_STATEMENTS})
DATEV_YEAR = gettext_noop("A DATEV file covers days of one calendar year")
DATEV_CODES = gettext_noop(
    "DATEV needs all account codes in Settings, as numbers of one length of 4 to 8 digits"
)
DATEV_NUMBERS = gettext_noop(
    "DATEV’s consultant number has 4 to 7 digits, and its client number 1 to 5"
)
_DATEV_ACCOUNT = re.compile(r"[0-9]{4,8}")
_CONSULTANT = re.compile(r"[1-9][0-9]{3,6}")
_CLIENT = re.compile(r"[1-9][0-9]{0,4}")
# Yesterday is closed for good once today has come this far: what was under way at midnight has
# ended.
CLOSED_AFTER_HOUR = 12


class InvalidRange(Failure):
    """A date is missing or no date, the end is before the start, or the format or the zone is
    unknown."""


class InvalidFormat(InvalidRange):
    """The report isn't made in this format."""

    def __init__(self, formats: tuple[str, ...]) -> None:
        choices = ", ".join(formats)
        super().__init__(Worded("format must be one of {choices}", choices=choices), field="format")


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
    time, in the zone whose days they are."""
    return now.date() - timedelta(days=1 if now.hour >= CLOSED_AFTER_HOUR else 2)


def request_report(access: Access, request: ReportRequest) -> Report:
    """The report of this type, range, currency, format and zone; made when it is missing, tried
    again when it failed or hangs. One of days that aren't over is made anew each minute; what can't
    be written in its format is refused for a while.

    Raises InvalidRange, RangeTooLarge, RangeUnavailable or TooManyPending.
    """
    now = access.now()
    named = request.time_zone
    is_of_stores_days = (
        request.format in OF_THE_STORES_DAYS or request.report_type == Report.Type.TAX_REPORT
    )
    if not named and is_of_stores_days:
        named = access.store.time_zone
    time_zone = _zone("" if named == UTC_NAME else named)
    local = now.astimezone(zone_named(time_zone))
    closed = available_through(local)
    first, last = _range(request, local.date() if request.may_be_so_far else closed)
    format = _format(request)
    identity = {
        "report_type": request.report_type,
        "period_from": first,
        "period_to": last,
        "currency": request.currency if request.currency in Currency.values else "",
        "format": format,
        "time_zone": time_zone,
        "is_so_far": last > closed,
    }
    if format == Report.Format.DATEV:
        _check_datev(access, first, last)
    until = now.replace(second=0, microsecond=0) if last > closed else None
    real = clock.real_now()
    with transaction.atomic():
        row = Report.objects.visible_to(access).filter(**identity).first()
        if row is None:
            if (
                Report.objects.visible_to(access).filter(status=states.PENDING).count()
                >= PENDING_MAX
            ):
                raise TooManyPending
            born = {"created_at": now, "touched_at": real, "until": until}
            row, is_new = Report.objects.get_or_create(
                store=access.store, mode=access.mode, **identity, defaults=born
            )
            if is_new:
                jobs.enqueue("reports.generate", row.pk)
    report: Report = row
    if _is_refused(report, real):
        raise InvalidRange(report.error, field="format")
    is_older = report.until is not None and until is not None and report.until < until
    if (
        report.status == states.FAILED
        or (report.status == states.PENDING and report.touched_at <= real - STALE)
        or (report.status == states.GENERATED and is_older)
    ):
        try_again(report, real, until=until)
    return report


def _is_refused(report: Report, real: datetime) -> bool:
    """It was tried just now, and what it asks for can't be written in its format."""
    is_lasting = report.error == RateMissing.message
    return report.status == states.FAILED and is_lasting and report.touched_at > real - STALE


def try_again(report: Report, real: datetime, *, until: datetime | None = None) -> None:
    """Back into the queue, unless somebody was faster. One of days that aren't over reaches until
    another moment, where one is named."""
    fresh: dict[str, object] = {
        "attempts": 0,
        "error": "",
        "lines_done": 0,
        "touched_at": real,
        "claimed_until": None,
    }
    if until is not None:
        fresh["until"] = until
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
            raise InvalidRange(Worded("{name} is required", name=name), field=name)
    days = {name: parse_date(text) for name, text in texts.items()}
    for name, day in days.items():
        if day is None:
            raise InvalidRange(Worded("{name} is not a date", name=name), field=name)
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


def _zone(name: str) -> str:
    if name and name not in zone_names():
        raise InvalidRange("time_zone is not a known time zone", field="time_zone")
    return name


def _format(request: ReportRequest) -> str:
    """One of those that the type is made in."""
    format = request.format or Report.Format.PDF
    formats = FORMATS[Report.Type(request.report_type)]
    if format not in formats:
        raise InvalidFormat(formats)
    return str(format)


def _check_datev(access: Access, first: date, last: date) -> None:
    """A file for DATEV has days of one year, and numbers of accounts of one length."""
    if first.year != last.year:
        raise InvalidRange(DATEV_YEAR, field="end_date")
    codes = codes_of(access.store_id)
    accounts = [getattr(codes, name) for name in (*LINES, "coins")]
    lengths = {len(code) for code in accounts}
    if not all(_DATEV_ACCOUNT.fullmatch(code) for code in accounts) or len(lengths) > 1:
        raise InvalidRange(DATEV_CODES, field="format")
    for number, allowed in (
        (codes.consultant_number, _CONSULTANT),
        (codes.client_number, _CLIENT),
    ):
        if number and not allowed.fullmatch(number):
            raise InvalidRange(DATEV_NUMBERS, field="format")
