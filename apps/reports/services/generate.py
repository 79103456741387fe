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
from apps.reports.documents import csv_file, pdf_file
from apps.reports.models import Report

log = structlog.get_logger(__name__)
LEASE = timedelta(minutes=5)
ATTEMPTS_MAX = 3
BATCH_MAX = 20
FAILED_WORDS = "The report could not be made. Ask for it again."

WRITERS: dict[str, Callable[[Report, Any, Callable[[int], None]], None]] = {
    Report.Format.PDF: pdf_file.write,
    Report.Format.CSV: csv_file.write,
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
            WRITERS[report.format](report, file, lambda lines: _note_progress(report, lines))
            size = file.tell()
            file.seek(0)
            _finish(report, storages["private"].save(_file_name(report), File(file)), size)
    except ClaimLost:
        log.warning("report_claim_lost", report=str(report.pk))
    except (
        Exception
    ):  # any bug or failure of the storage: noted on the report, and the others go on
        log.exception("report_not_made", report=str(report.pk), attempt=report.attempts)
        _give_back(report)


def _file_name(report: Report) -> str:
    """The name that a download has; the id makes it unguessable and each attempt its own."""
    currency = f"-{report.currency.lower()}" if report.currency else ""
    period = f"{report.period_from}-{report.period_to}"
    name = f"{report.report_type}-{report.mode}-{period}{currency}.{report.format}"
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
    """Free for another try; the last one that fails is told."""
    if report.attempts < ATTEMPTS_MAX:
        _mine(report).update(claimed_until=None)
    elif _mine(report).exists():
        _fail(report)


def _fail(report: Report) -> None:
    states.MACHINE.change_status(
        report, Step(states.FAILED), at=clock.real_now(), error=FAILED_WORDS, claimed_until=None
    )
