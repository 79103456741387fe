"""What the machine has still to do: rows that jobs fail at, queues of workers, events and mail that
wait. Counts stop at a thousand."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db.models import Count, Max, Min, Q, QuerySet
from django.urls import reverse

from apps.core import buckets
from apps.core import jobs as queues
from apps.core.models import OutgoingMail, RowFailure
from apps.webhooks.models import Delivery, Endpoint, QueuedDelivery

COUNTED_MAX = 1_000
JOBS_MAX = 100
_QUEUE_NAMES = {
    "celery": "General",
    "test": "Test mode",
    "webhooks": "Webhooks",
    "reports": "Reports",
    "documents": "Documents",
    "test_clocks": "Test clocks",
}


@dataclass(frozen=True)
class Failing:
    """One job: how many of its rows will be tried again, were given up, and were set aside by
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
    """What waits to leave, by an index of what waits."""
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


def _counted(name: str, rows: "QuerySet[Any]", column: str, url: str) -> JobQueue:
    times = list(rows.order_by(column).values_list(column, flat=True)[: COUNTED_MAX + 1])
    figure = f"{len(times):,}" if len(times) <= COUNTED_MAX else f"{COUNTED_MAX:,}+"
    return JobQueue(name, figure, times[0] if times else None, url)
