"""Sending something by hand: a test event, one delivery again, everything of a stretch of time
again, or everything that an endpoint has missed."""

import uuid
from contextlib import suppress
from datetime import datetime, timedelta
from typing import NamedTuple
from urllib.parse import urlsplit

from django.db import transaction
from django.db.models import Exists, OuterRef, QuerySet
from msgspec import to_builtins

from apps.core import jobs
from apps.core.errors import Failure, RefusalKind
from apps.core.ids import id_beside
from apps.core.machine import Step
from apps.core.messages.fields import is_uuid
from apps.core.messages.invalid import Invalid
from apps.core.redis import buckets
from apps.webhooks import notices
from apps.webhooks.catalogue import TEST_DEFAULT, open_to
from apps.webhooks.models import Delivery, Endpoint, Event
from apps.webhooks.requests import ResendRequest
from apps.webhooks.samples import sample
from apps.webhooks.states import DELIVERY

RESEND_MAX = 1000
MISSED_WITHIN = timedelta(days=30)
DELIVER = "webhooks.deliver"
# Of settings.LIMITS: of a store to one host, and of all stores to it (with `_host`).
TESTS = "webhook_tests"
REDELIVERIES = "redeliveries"


class DeliveryNotRetryable(Failure):
    message = "Delivery is not retryable"


class EndpointNotActive(Failure):
    message = "Endpoint is not active"


class DeliveryNotFound(Failure):
    kind = RefusalKind.NOT_FOUND
    message = "Delivery not found"


class TooManyForHost(Failure):
    """A host gets no more of what is sent by hand for a moment."""

    kind = RefusalKind.TOO_MANY
    code = "rate_limited"
    message = "This host has received too many events sent by hand. Try again in a moment"


class TooManyEvents(Failure):
    field = "to"
    message = f"More than {RESEND_MAX} events; choose a shorter range"


def send_test(endpoint: Endpoint, event_type: str | None, at: datetime) -> Delivery:
    """A made-up event of the type (default: the first that the endpoint asked for), sent to this
    endpoint alone.

    Raises Invalid when there is no such event, and TooManyForHost.
    """
    name = (
        event_type
        if event_type is not None
        else next(iter(endpoint.subscribed_events), TEST_DEFAULT)
    )
    if name not in open_to(endpoint.store.is_platform):
        raise Invalid("event_type", "event_name")
    _take(TESTS, endpoint)
    with transaction.atomic():
        event = Event.objects.create(
            store=endpoint.store,
            mode=endpoint.mode,
            type=name,
            object=to_builtins(sample(name)),
            created_at=at,
        )
        return _send_now(endpoint, event, at)


def redeliver(endpoint: Endpoint, delivery_id: uuid.UUID | str, at: datetime) -> Delivery:
    """Send a delivery again now. One that has ended begins a new series of attempts. Raises
    DeliveryNotFound, DeliveryNotRetryable or TooManyForHost."""
    _take(REDELIVERIES, endpoint)
    deliveries = Delivery.objects.filter(endpoint=endpoint, mode=endpoint.mode)
    with transaction.atomic():
        delivery: Delivery | None = (
            deliveries.filter(pk=delivery_id).select_for_update().first()
            if is_uuid(str(delivery_id))
            else None
        )
        if delivery is None:
            raise DeliveryNotFound
        if not is_retryable(endpoint, delivery):
            raise DeliveryNotRetryable
        attempts = delivery.attempts if delivery.status == Delivery.Status.PENDING else 0
        again = Step(Delivery.Status.PENDING)
        DELIVERY.change_locked(
            delivery, again, at=at, attempts=attempts, next_attempt_at=at, claimed_until=None
        )
        jobs.enqueue(DELIVER, delivery.pk)
    return delivery


def is_retryable(endpoint: Endpoint, delivery: Delivery) -> bool:
    """Failed or ignored, or waiting after a failed attempt; and the endpoint is on."""
    if endpoint.status != Endpoint.Status.ACTIVE or endpoint.deleted_at is not None:
        return False
    if delivery.status == Delivery.Status.PENDING:
        return delivery.attempts >= 1
    return delivery.status in (Delivery.Status.FAILED, Delivery.Status.IGNORED)


def resend_range(endpoint: Endpoint, order: ResendRequest, at: datetime) -> int:
    """Send again, each in a new delivery, the events of a stretch of time that the endpoint asks
    for; how many.

    Test events are left out. Raises DeliveryNotRetryable (the endpoint is off), TooManyEvents or
    TooManyForHost.
    """
    if endpoint.status != Endpoint.Status.ACTIVE or endpoint.deleted_at is not None:
        raise DeliveryNotRetryable
    events = (
        _wanted(endpoint)
        .filter(created_at__gte=order.first, created_at__lte=order.last)
        .exclude(
            pk__in=Delivery.objects.filter(
                store=endpoint.store, mode=endpoint.mode, is_test=True
            ).values("event_id")
        )
        .order_by("created_at", "id")
    )
    batch = list(events[: RESEND_MAX + 1])
    if len(batch) > RESEND_MAX:
        raise TooManyEvents
    _take(REDELIVERIES, endpoint, max(1, len(batch)))
    with transaction.atomic():
        rows = Delivery.objects.bulk_create(_new(endpoint, event, at) for event in batch)
        jobs.enqueue(DELIVER, *(row.pk for row in rows))
    return len(rows)


class MissedSent(NamedTuple):
    """Of how many events deliveries were made, and whether more were missed."""

    number: int
    has_more: bool


def resend_missed(endpoint: Endpoint, since: datetime | None, at: datetime) -> MissedSent:
    """Send each event since a moment (default: MISSED_WITHIN ago) that the endpoint asks for, and
    that has neither reached it nor is on its way: RESEND_MAX of them, oldest first.

    Test events are left out. Raises EndpointNotActive or TooManyForHost.
    """
    if endpoint.status != Endpoint.Status.ACTIVE or endpoint.deleted_at is not None:
        raise EndpointNotActive
    with transaction.atomic():
        # Who comes meanwhile waits, and finds these on their way.
        Endpoint.objects.select_for_update().get(pk=endpoint.pk)
        batch = list(_missed(endpoint, since or at - MISSED_WITHIN)[: RESEND_MAX + 1])
        sent = batch[:RESEND_MAX]
        _take(REDELIVERIES, endpoint, max(1, len(sent)))
        rows = Delivery.objects.bulk_create(_new(endpoint, event, at) for event in sent)
        jobs.enqueue(DELIVER, *(row.pk for row in rows))
    return MissedSent(len(rows), len(batch) > RESEND_MAX)


def _missed(endpoint: Endpoint, since: datetime) -> "QuerySet[Event]":
    """Oldest first."""
    of_event = Delivery.objects.filter(
        store=endpoint.store, mode=endpoint.mode, event=OuterRef("pk")
    )
    status = Delivery.Status
    not_missed = [status.DELIVERED, status.PENDING, status.ATTEMPTING]
    return (
        _wanted(endpoint)
        .filter(created_at__gte=since)
        .exclude(Exists(of_event.filter(endpoint=endpoint, status__in=not_missed)))
        .exclude(Exists(of_event.filter(is_test=True)))
        .order_by("created_at", "id")
    )


def _wanted(endpoint: Endpoint) -> "QuerySet[Event]":
    """Everything that the endpoint asks for."""
    events: QuerySet[Event] = Event.objects.filter(
        store=endpoint.store, mode=endpoint.mode, type__in=endpoint.subscribed_events
    )
    if endpoint.format != Endpoint.Format.BITPAY:
        return events
    return events.filter(**{f"object__metadata__{notices.ENDPOINT}": str(endpoint.pk)})


def _take(policy: str, endpoint: Endpoint, count: int = 1) -> None:
    """Count what is sent by hand to the endpoint's host: of this store, then of all. More than a
    full bucket holds takes a full one. Raises TooManyForHost; without Redis it passes."""
    host = urlsplit(endpoint.url).hostname or ""
    holders = {policy: f"{endpoint.store_id}:{host}", f"{policy}_host": host}
    with suppress(buckets.Unavailable):
        for name, holder in holders.items():
            allowance = buckets.take(name, endpoint.mode, holder, count)
            if allowance.is_limited:
                raise TooManyForHost(retry_after=allowance.retry_after_seconds)


def _send_now(endpoint: Endpoint, event: Event, at: datetime) -> Delivery:
    delivery = _new(endpoint, event, at, is_test=True)
    delivery.save(force_insert=True)
    jobs.enqueue(DELIVER, delivery.pk)
    return delivery


def _new(endpoint: Endpoint, event: Event, at: datetime, *, is_test: bool = False) -> Delivery:
    is_on = endpoint.status == Endpoint.Status.ACTIVE
    return Delivery(
        id=id_beside(event.pk),
        store_id=endpoint.store_id,
        mode=endpoint.mode,
        event=event,
        endpoint=endpoint,
        status=Delivery.Status.PENDING if is_on else Delivery.Status.IGNORED,
        next_attempt_at=at if is_on else None,
        is_test=is_test,
        created_at=at,
    )
