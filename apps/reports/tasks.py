"""The reports' only job: the table is the queue, so which report it was woken for doesn't
matter."""

from collections.abc import Sequence

from celery import shared_task

from apps.reports.services import generate

LONGEST_SECONDS = 1800


@shared_task(name="reports.generate", time_limit=LONGEST_SECONDS)
def generate_due(report_ids: Sequence[str] = ()) -> None:
    generate.generate_due()
