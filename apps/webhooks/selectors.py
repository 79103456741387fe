"""Reads of endpoints and deliveries: always one store, one mode, and nothing that was deleted."""

import uuid
from collections.abc import Sequence
from datetime import datetime

from django.db import connection, models
from django.db.models.functions import Cast

from apps.access.access import Access
from apps.core import list_pages
from apps.core.messages.fields import is_uuid
from apps.core.searching import found_by_any
from apps.webhooks.models import Attempt, Delivery, Endpoint, Event, Host, QueuedDelivery

RECENT = 25
ABOUT_MAX = 100


def events(access: Access) -> models.QuerySet[Event]:
    """Events of a store, with or without an endpoint for them, with those that send_test made
    up."""
    return Event.objects.visible_to(access)


def filtered_events(
    access: Access, *, type: str, q: str, account_id: str = ""
) -> models.QuerySet[Event]:
    """Newest first, without their objects: the one with the ID `q`, and of the newest
    (searching.NEWEST_MAX) those of a type, of a sub-merchant and about the record `q`, its ID,
    reference, number or order ID, for which no index is kept."""
    rows = events(access).defer("object").order_by("-created_at", "-id")
    columns = {"type": type, "account_id": account_id}
    condition = models.Q(**{name: value for name, value in columns.items() if value})
    if q and is_uuid(q):
        own = rows.filter(condition, pk=q)
        if own.exists():
            return own
    if q:
        condition &= models.Q(*((f"object__{name}", q) for name in _ABOUT), _connector="OR")
    return found_by_any(rows, in_newest=condition) if condition else rows


# Where an event's object names its record.
_ABOUT = ("id", "payment_intent_id", "order_id", "formatted_number")


def ours_to_deliver(mode: str, due_by: datetime) -> models.QuerySet[QueuedDelivery]:
    """Due deliveries to hosts that answer. Anybody can name one that never has; what waits for it
    is late by its own doing."""
    answering = Endpoint.objects.filter(mode=mode, host__in=Host.objects.values("name"))
    # Each is looked up by its key: joined, the table of endpoints is read whole while it is short.
    own = models.Subquery(answering.filter(pk=models.OuterRef("endpoint_id")).values("pk")[:1])
    due = QueuedDelivery.objects.filter(status=Delivery.Status.PENDING, next_attempt_at__lte=due_by)
    return due.filter(endpoint=own)


def endpoints(access: Access, status: str | None = None) -> models.QuerySet[Endpoint]:
    """Newest first; an unrecognised status is no filter."""
    rows = (
        Endpoint.objects.visible_to(access).filter(deleted_at=None).order_by("-created_at", "-id")
    )
    return rows.filter(status=status) if status in Endpoint.Status.values else rows


RATED_MAX = 1_000
LOOKED_AT_MAX = 10_000

# Limits that aren't known while PostgreSQL plans: the newest come from the index in its order. With
# known ones it expects few rows beneath the policies, and sorts all there are.
_ENDED = """
SELECT asked.id, count(*), count(*) FILTER (WHERE d.status = 'delivered')
FROM unnest(%s::uuid[]) AS asked (id) CROSS JOIN LATERAL (
    SELECT status FROM (
        SELECT status, is_test FROM webhooks_delivery WHERE endpoint_id = asked.id
        ORDER BY created_at DESC LIMIT (SELECT %s::int)
    ) newest WHERE status IN ('delivered', 'failed') AND NOT is_test LIMIT (SELECT %s::int)) d
GROUP BY asked.id
"""


def with_success_rates(
    access: Access, status: str | None = None
) -> list[tuple[Endpoint, float | None]]:
    """Each endpoint with the share of its deliveries that arrived, in per cent to one decimal.

    Of those that have ended, the newest RATED_MAX, among the newest LOOKED_AT_MAX there are: what
    waits, is ignored or was a test doesn't count. None when nothing has ended.
    """
    rows = list(endpoints(access, status))
    rates = _rates(rows)
    return [(row, rates.get(row.pk)) for row in rows]


def success_rate(endpoint: Endpoint) -> float | None:
    """That of one."""
    return _rates([endpoint]).get(endpoint.pk)


def _rates(rows: Sequence[Endpoint]) -> dict[uuid.UUID, float]:
    with connection.cursor() as cursor:
        cursor.execute(_ENDED, [[row.pk for row in rows], LOOKED_AT_MAX, RATED_MAX])
        return {pk: round(100 * arrived / total, 1) for pk, total, arrived in cursor.fetchall()}


def recent_deliveries(endpoint: Endpoint, limit: int = RECENT) -> list[Delivery]:
    """Newest first, each with its event."""
    return list(list_pages.part(deliveries(endpoint), 0, limit))


def deliveries(endpoint: Endpoint) -> models.QuerySet[Delivery]:
    return (
        Delivery.objects.filter(endpoint=endpoint, mode=endpoint.mode)
        .select_related("event")
        .order_by("-created_at", "-id")
    )


def filtered_deliveries(endpoint: Endpoint, *, status: str) -> models.QuerySet[Delivery]:
    """Newest first, without what was sent and answered; of the newest (searching.NEWEST_MAX) those
    with a status, for which no index is kept."""
    rows = deliveries(endpoint).defer("event__object", "response_body")
    return found_by_any(rows, in_newest=models.Q(status=status)) if status else rows


def event_bodies(access: Access) -> models.QuerySet[Event]:
    """Newest first, each with the text of its object as it is sent."""
    return (
        events(access)
        .annotate(object_json=Cast("object", models.TextField()))
        .order_by("-created_at", "-id")
    )


def deliveries_of(event: Event) -> list[Delivery]:
    """Newest first, each with its endpoint."""
    rows = Delivery.objects.filter(
        event=event, store=event.store_id, mode=event.mode
    ).select_related("endpoint")
    return list(rows.defer("endpoint__sealed_secret").order_by("-created_at", "-id")[:ABOUT_MAX])


def failed_attempts(delivery: Delivery) -> list[Attempt]:
    """Newest first, as far back as they are kept; those of an earlier series too."""
    return list(Attempt.objects.filter(delivery=delivery).order_by("-at", "-id")[:ABOUT_MAX])


def deliveries_about(access: Access, subject: str, moments: Sequence[datetime]) -> list[Delivery]:
    """Deliveries of events about one record (`data.object.id`), newest first. `moments` are when
    they happened: an index finds events by their time, and none by what they are about."""
    events = Event.objects.visible_to(access).filter(
        created_at__in=sorted(set(moments)), object__id=subject
    )
    # Their keys are found first: beneath the policies PostgreSQL expects too few of them, and would
    # look through the deliveries of the store.
    keys = list(events.order_by("-created_at").values_list("pk", flat=True)[:ABOUT_MAX])
    rows = Delivery.objects.visible_to(access).filter(event__in=keys, is_test=False)
    return list(
        rows.select_related("event", "endpoint")
        .defer("endpoint__sealed_secret")
        .order_by("-created_at", "-id")[:ABOUT_MAX]
    )
