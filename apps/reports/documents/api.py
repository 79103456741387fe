"""Reports as the API tells them: an entry of the index, and the two answers of a poll."""

from datetime import date
from typing import Any

from apps.core.clock import iso
from apps.core.private_files import LINK_SECONDS
from apps.reports import states
from apps.reports.models import Report


def index_document(entries: list[tuple[Report, str | None]], through: date) -> dict[str, Any]:
    """The most recent reports, each with the link to its file, and the last day that a report may end on."""
    return {"reports": [_entry(report, url) for report, url in entries], "available_through": through.isoformat()}


def _entry(report: Report, url: str | None) -> dict[str, Any]:
    told = {
        "id": str(report.pk),
        "report_type": report.report_type,
        "status": report.status,
        "period_from": report.period_from.isoformat(),
        "period_to": report.period_to.isoformat(),
        "currency": report.currency or None,
        "format": report.format,
        "created_at": iso(report.created_at),
        "generated_at": iso(report.generated_at) if report.status == states.GENERATED else None,
        "size_bytes": report.size_bytes if report.status == states.GENERATED else None,
        "error": report.error or None,
    }
    return told if url is None else {**told, "url": url, "expires_in": LINK_SECONDS}


def pending_document(report: Report) -> dict[str, Any]:
    return {"status": states.PENDING, "report_id": str(report.pk)}


def generated_document(report: Report, url: str) -> dict[str, Any]:
    return {"status": states.GENERATED, "url": url, "expires_in": LINK_SECONDS, "report_id": str(report.pk)}
