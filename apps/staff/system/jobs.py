"""The rows that jobs fail at, which staff retry, and what else is still to be done: queues of
workers, events and emails that wait. Counts stop at a thousand."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, ClassVar

from django.contrib import admin, messages
from django.contrib.admin import AdminSite
from django.db.models import (
    Case,
    Count,
    DateTimeField,
    DurationField,
    ExpressionWrapper,
    F,
    Max,
    Min,
    Q,
    QuerySet,
    Value,
    When,
)
from django.http import HttpRequest, HttpResponse
from django.template.defaultfilters import pluralize
from django.template.response import TemplateResponse
from django.urls import reverse

from apps.core import clock, rows
from apps.core import jobs as queues
from apps.core.models import Mode, OutgoingMail, RowFailure
from apps.core.redis import buckets
from apps.core.templatetags.tillgate import moment
from apps.staff import lists
from apps.staff.pages import ReadOnly, button, typed_reason
from apps.stores import staff_roles
from apps.webhooks.models import Delivery, Endpoint, QueuedDelivery

COUNTED_MAX = 1_000
JOBS_MAX = 100
# Of a delivery: how far the clock that its times are by is ahead of the machine's.
_AHEAD = Case(
    When(
        endpoint__mode=Mode.TEST,
        then=F("endpoint__store__test_offset_seconds") * Value(timedelta(seconds=1)),
    ),
    default=Value(timedelta()),
    output_field=DurationField(),
)
_QUEUE_NAMES = {
    "celery": "General",
    "test": "Test mode",
    "webhooks": "Webhooks",
    "reports": "Reports",
    "documents": "Documents",
    "test_clocks": "Test clocks",
}


class RowFailureAdmin(ReadOnly):
    model = RowFailure
    names = ("failing job", "failing jobs")
    labels: ClassVar = {
        "dead_at": "Given up",
        "row_id": "Record ID",
        "set_aside_reason": "Reason it was set aside",
    }
    list_display = ("job_name", "row", "failed_with", "tries", "began", "ended")
    list_display_links = ("job_name",)
    job_name = lists.clipped("job", "Job")
    row = lists.clipped("row_id", "Record ID")
    list_filter = (lists.present("dead_at", "status", "Given up", "Retrying"),)
    search_fields = ("row_id", "job")
    search_help_text = "ID of the record, or name of the job"
    ordering = ("-dead_at", "-since")
    actions = ("retry", "set_aside")
    failed_with = lists.text("error", "Error")
    began = lists.when("since", "Failing since")

    def title_of(self, row: RowFailure) -> str:
        return str(row.job)

    @admin.display(description="Given up")
    def ended(self, row: RowFailure) -> str:
        if row.dead_at is None:
            return "Retrying"
        return f"Set aside: {row.set_aside_reason}" if row.set_aside_reason else moment(row.dead_at)

    @button(staff_roles.JOB_RETRY, "Retry now")
    def retry(self, request: HttpRequest, failures: "QuerySet[RowFailure]") -> None:
        for failure in failures:
            self.log_change(request, failure, "Retry")
        count = rows.retry(failures)
        messages.success(request, f"{_records(count)} will be retried")

    @button(staff_roles.JOB_RETRY, "Set aside")
    def set_aside(self, request: HttpRequest, failures: "QuerySet[RowFailure]") -> None:
        for failure in failures:
            self.log_change(request, failure, "Set aside")
        count = rows.set_aside(failures, typed_reason(request))
        messages.success(request, f"{_records(count)} set aside")


def _records(count: int) -> str:
    return f"{count:,} record{pluralize(count)}"


@dataclass(frozen=True)
class Failing:
    """A job: how many of its rows will be tried again, were given up, and were set aside by
    staff."""

    job: str
    paused: int
    dead: int
    set_aside: int
    since: datetime
    next_at: datetime | None
    error: str


@dataclass(frozen=True)
class JobQueue:
    name: str
    figure: str
    since: datetime | None = None
    url: str = ""
    code: str = ""  # what operators call it


@dataclass(frozen=True)
class Monitor:
    failing: list[Failing]
    workers: list[JobQueue]
    outbox: list[JobQueue]


def page(site: AdminSite, request: HttpRequest) -> HttpResponse:
    now = clock.real_now()
    context = {
        **site.each_context(request),
        "title": "Jobs and outbox",
        "monitor": monitor(now),
        "now": now,
    }
    return TemplateResponse(request, "staff/jobs.html", context)


def monitor(now: datetime) -> Monitor:
    return Monitor(_failing(now), _workers(), _outbox(now))


def _failing(now: datetime) -> list[Failing]:
    dead = ~Q(dead_at=None)
    rows = RowFailure.objects.values("job").annotate(
        paused=Count("pk", filter=Q(dead_at=None)),
        dead=Count("pk", filter=dead & Q(set_aside_reason="")),
        aside=Count("pk", filter=dead & ~Q(set_aside_reason="")),
        began=Min("since"),
        next_at=Min("not_before", filter=Q(dead_at=None)),
        last=Max("error"),
    )
    groups = rows.order_by("-dead", "job")[:JOBS_MAX]
    return [
        Failing(
            group["job"],
            group["paused"],
            group["dead"],
            group["aside"],
            group["began"],
            group["next_at"],
            group["last"],
        )
        for group in groups
    ]


def _workers() -> list[JobQueue]:
    """None when Redis can't be reached."""
    try:
        return [
            JobQueue(_QUEUE_NAMES[name], f"{int(buckets.client().llen(name)):,}", code=name)
            for name in queues.QUEUES
        ]
    except buckets.unreachable():
        return []


def _outbox(now: datetime) -> list[JobQueue]:
    """Emails and deliveries that wait to leave, by an index of waiting rows."""
    mail = OutgoingMail.objects.filter(status=OutgoingMail.Status.QUEUED)
    failed = OutgoingMail.objects.filter(status=OutgoingMail.Status.FAILED)
    # Waiting deliveries are indexed by endpoint.
    deliveries = QueuedDelivery.objects.filter(
        endpoint__in=Endpoint.objects.filter(deleted_at=None), status=Delivery.Status.PENDING
    )
    page = "?status__exact="
    return [
        _counted(
            "Deliveries waiting",
            deliveries,
            "next_attempt_at",
            reverse("admin:webhooks_delivery_changelist") + page + "pending",
            by_machine=F("next_attempt_at") - _AHEAD,
        ),
        _counted(
            "Email waiting",
            mail,
            "next_attempt_at",
            reverse("admin:core_outgoingmail_changelist") + page + "queued",
        ),
        _counted(
            "Email failed",
            failed,
            "created_at",
            reverse("admin:core_outgoingmail_changelist") + page + "failed",
        ),
    ]


def _counted(
    name: str, rows: "QuerySet[Any]", column: str, url: str, *, by_machine: Any = None
) -> JobQueue:
    """`by_machine` is the column by the machine's clock, where a test clock may have moved it."""
    time = F(column) if by_machine is None else by_machine
    oldest = rows.order_by(column).annotate(
        time=ExpressionWrapper(time, output_field=DateTimeField())
    )
    times = list(oldest.values_list("time", flat=True)[: COUNTED_MAX + 1])
    figure = f"{len(times):,}" if len(times) <= COUNTED_MAX else f"{COUNTED_MAX:,}+"
    since = min((at for at in times if at is not None), default=None)
    return JobQueue(name, figure, since, url)
