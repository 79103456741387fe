"""The jobs of reports. Their table is the queue, so which report a job was woken for doesn't
matter; and what bookings come to by the hour."""

from collections.abc import Sequence

from celery import shared_task

from apps.reports import hourly_bookings
from apps.reports.services import generate

LONGEST_SECONDS = 1800


@shared_task(name="reports.generate", time_limit=LONGEST_SECONDS)
def generate_due(report_ids: Sequence[str] = ()) -> None:
    generate.generate_due()


@shared_task(name="reports.sum_bookings")
def sum_bookings() -> None:
    hourly_bookings.sum_bookings()
