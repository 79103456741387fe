"""Asking for a report as a merchant does, making it, and reading the file."""

import csv
import io
from datetime import date
from typing import Any

from django.core.files.storage import storages

from apps.access.access import Access
from apps.reports.models import Report
from apps.reports.requests import ReportRequest
from apps.reports.services.generate import generate_due
from apps.reports.services.request import request_report
from tests.ledger.books import Books

ENTRIES = Report.Type.ACCOUNTING_TRANSACTIONS
STATEMENT = Report.Type.MERCHANT_STATEMENT


def access_to(books: Books) -> Access:
    return Access.for_public(books.store, books.mode)


def asked(access: Access, first: Any, last: Any, kind: str = ENTRIES, **more: str) -> Report:
    days = {"start_date": str(first), "end_date": str(last)}
    wanted: dict[str, Any] = {**days, "format": "csv", **more}
    return request_report(access, ReportRequest(report_type=kind, **wanted))


def made(
    access: Access, first: date | str, last: date | str, kind: str = ENTRIES, **more: str
) -> bytes:
    """The file of a report."""
    report = asked(access, first, last, kind, **more)
    generate_due()
    report.refresh_from_db()
    assert report.status == Report.Status.GENERATED, report.error
    with storages["private"].open(report.file_name) as file:
        content: bytes = file.read()
    assert len(content) == report.size_bytes
    return content


def every_row_of(content: bytes, separator: str = ",") -> list[dict[str, str]]:
    text = io.StringIO(content.decode("utf-8-sig"))
    return list(csv.DictReader(text, delimiter=separator))


def rows_of(content: bytes) -> list[dict[str, str]]:
    """The entries of the ledger, without their opposite sides."""
    return [row for row in every_row_of(content) if row.get("entry_id") != ""]
