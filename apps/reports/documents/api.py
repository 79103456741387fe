"""Reports as the API tells them: an entry of the index, and the two answers of a poll."""

from datetime import date

from msgspec import UNSET, UnsetType

from apps.core.clock import iso
from apps.core.documents.private_files import LINK_SECONDS
from apps.core.messages.documents import Day, Document, Id, Time
from apps.core.text.days import UTC_NAME
from apps.reports import states
from apps.reports.models import Report


class ReportDocument(Document, frozen=True, kw_only=True):
    """`url` is there while the file is, and works for `expires_in` seconds."""

    id: Id
    report_type: str
    status: str
    period_from: Day
    period_to: Day
    currency: str | None
    format: str
    created_at: Time
    generated_at: Time | None
    size_bytes: int | None
    error: str | None
    time_zone: str
    url: str | UnsetType = UNSET
    expires_in: int | UnsetType = UNSET


class ReportIndex(Document, frozen=True, kw_only=True):
    """The most recent reports, and the last day that a report may end on."""

    reports: list[ReportDocument]
    available_through: Day


class ReportPending(Document, frozen=True, kw_only=True):
    status: str
    report_id: Id


class ReportReady(Document, frozen=True, kw_only=True):
    status: str
    url: str
    expires_in: int
    report_id: Id


def index_document(entries: list[tuple[Report, str | None]], through: date) -> ReportIndex:
    """Each report with the link to its file."""
    return ReportIndex(
        reports=[_entry(report, url) for report, url in entries],
        available_through=through.isoformat(),
    )


def _entry(report: Report, url: str | None) -> ReportDocument:
    is_generated = report.status == states.GENERATED
    return ReportDocument(
        id=str(report.pk),
        report_type=report.report_type,
        status=report.status,
        period_from=report.period_from.isoformat(),
        period_to=report.period_to.isoformat(),
        currency=report.currency or None,
        format=report.format,
        created_at=iso(report.created_at),
        generated_at=iso(report.generated_at) if is_generated else None,
        size_bytes=report.size_bytes if is_generated else None,
        error=report.error or None,
        time_zone=report.time_zone or UTC_NAME,
        url=UNSET if url is None else url,
        expires_in=UNSET if url is None else LINK_SECONDS,
    )


def pending_document(report: Report) -> ReportPending:
    return ReportPending(status=states.PENDING, report_id=str(report.pk))


def generated_document(report: Report, url: str) -> ReportReady:
    return ReportReady(
        status=states.GENERATED, url=url, expires_in=LINK_SECONDS, report_id=str(report.pk)
    )
