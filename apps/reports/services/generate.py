"""Making the reports that were asked for: the rows are the queue, claimed one by one with a lease,
one per store at a time.

A worker that dies leaves its claim behind; when the lease is over the sweep takes the report again,
three times at most.
"""

import tempfile
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

import structlog
from django.core.files import File
from django.core.files.storage import storages
from django.db import transaction
from django.db.models import Exists, OuterRef, Q

from apps.core import clock
from apps.core.machine import Step
from apps.reports import states
from apps.reports.documents import (
    bank_csv_file,
    camt_file,
    csv_file,
    datev_file,
    journal_file,
    ofx_file,
    pdf_file,
    tax_file,
)
from apps.reports.documents.statement_lines import RateMissing
from apps.reports.models import Report

log = structlog.get_logger(__name__)
LEASE = timedelta(minutes=5)
ATTEMPTS_MAX = 3
BATCH_MAX = 20
FAILED_WORDS = "The report could not be made. Ask for it again."

Writer = Callable[[Report, Any, Callable[[int], None]], None]
TAX_WRITERS: dict[str, Writer] = {
    Report.Format.PDF: tax_file.write_pdf,
    **dict.fromkeys(csv_file.SEPARATORS, tax_file.write_csv),
}
WRITERS: dict[str, Writer] = {
    Report.Format.PDF: pdf_file.write,
    **dict.fromkeys(csv_file.SEPARATORS, csv_file.write),
    **dict.fromkeys(journal_file.JOURNALS, journal_file.write),
    Report.Format.DATEV: datev_file.write,
    Report.Format.XERO: bank_csv_file.write_xero,
    Report.Format.QUICKBOOKS: bank_csv_file.write_quickbooks,
    Report.Format.OFX: ofx_file.write,
    Report.Format.CAMT053: camt_file.write,
}
# Of a file, where that isn't the name of its format.
ENDINGS = {
    Report.Format.CSV_SEMICOLON: "csv",
    Report.Format.CSV_TAB: "csv",
    Report.Format.HLEDGER: "journal",
    Report.Format.LEDGER: "ledger",
    Report.Format.DATEV: "csv",
    Report.Format.XERO: "csv",
    Report.Format.QUICKBOOKS: "csv",
    Report.Format.CAMT053: "xml",
}


class ClaimLost(Exception):
    """The lease was over and somebody else has the report now."""


def generate_due() -> int:
    """Make what waits, oldest first; how many reports were tried."""
    for done in range(BATCH_MAX):
        report = _claim(clock.real_now())
        if report is None:
            return done
        _generate(report)
    return BATCH_MAX


def _claim(real: datetime) -> Report | None:
    with transaction.atomic():
        waiting = Report.objects.filter(status=states.PENDING)
        busy = waiting.filter(store=OuterRef("store"), claimed_until__gt=real)
        free = waiting.filter(Q(claimed_until=None) | Q(claimed_until__lte=real)).exclude(
            Exists(busy)
        )
        report: Report | None = (
            free.select_for_update(of=("self",), skip_locked=True)
            .select_related("store")
            .order_by("touched_at")
            .first()
        )
        if report is None:
            return None
        report.claimed_until, report.touched_at, report.attempts = (
            real + LEASE,
            real,
            report.attempts + 1,
        )
        report.save(update_fields=["claimed_until", "touched_at", "attempts"])
    if report.attempts > ATTEMPTS_MAX:
        _fail(report)
        log.error("report_failed", report=str(report.pk), error="its workers died")
    return report


def _generate(report: Report) -> None:
    if report.status != states.PENDING:
        return
    try:
        with tempfile.TemporaryFile() as file:
            is_tax = report.report_type == Report.Type.TAX_REPORT
            write = (TAX_WRITERS if is_tax else WRITERS)[report.format]
            write(report, file, lambda lines: _note_progress(report, lines))
            size = file.tell()
            file.seek(0)
            _finish(report, storages["private"].save(_file_name(report), File(file)), size)
    except ClaimLost:
        log.warning("report_claim_lost", report=str(report.pk))
    except RateMissing as refusal:
        coin = {"asset_id": refusal.asset_id, "currency": refusal.currency}
        log.warning("report_rate_missing", report=str(report.pk), **coin)
        if _mine(report).exists():
            _fail(report, str(refusal))
    except (
        Exception
    ):  # any bug or failure of the storage: noted on the report, and the others go on
        log.exception("report_not_made", report=str(report.pk), attempt=report.attempts)
        _give_back(report)


def _file_name(report: Report) -> str:
    """The name that a download has; the id makes it unguessable and each attempt its own."""
    currency = f"-{report.currency.lower()}" if report.currency else ""
    period = f"{report.period_from}-{report.period_to}{'-so-far' if report.is_so_far else ''}"
    ending = ENDINGS.get(Report.Format(report.format), report.format)
    program = "EXTF_" if report.format == Report.Format.DATEV else ""
    name = f"{program}{report.report_type}-{report.mode}-{period}{currency}.{ending}"
    return f"reports/{report.pk}/{name}"


def _mine(report: Report) -> Any:
    return Report.objects.filter(
        pk=report.pk, status=states.PENDING, claimed_until=report.claimed_until
    )


def _note_progress(report: Report, lines_done: int) -> None:
    """Tell how far it is, and hold the claim for another while."""
    real = clock.real_now()
    changes = {
        "lines_done": lines_done,
        "lines_total": report.lines_total,
        "touched_at": real,
        "claimed_until": real + LEASE,
    }
    if not _mine(report).update(**changes):
        raise ClaimLost
    report.claimed_until = real + LEASE


def _finish(report: Report, name: str, size: int) -> None:
    with transaction.atomic():
        if not _mine(report).select_for_update().exists():
            transaction.on_commit(lambda: storages["private"].delete(name))
            return
        at = clock.now(report.store, report.mode)
        fields = {
            "file_name": name,
            "size_bytes": size,
            "generated_at": at,
            "claimed_until": None,
            "lines_done": report.lines_total or 0,
        }
        states.MACHINE.change_status(report, Step(states.GENERATED), at=at, **fields)
    log.info("report_generated", report=str(report.pk), size_bytes=size)


def _give_back(report: Report) -> None:
    """Free for another try; the last one that fails is reported."""
    if report.attempts < ATTEMPTS_MAX:
        _mine(report).update(claimed_until=None)
    elif _mine(report).exists():
        _fail(report)


def _fail(report: Report, words: str = FAILED_WORDS) -> None:
    states.MACHINE.change_status(
        report, Step(states.FAILED), at=clock.real_now(), error=words, claimed_until=None
    )
