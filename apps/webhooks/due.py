"""Deliveries that become due by a store's test clock."""

import uuid
from datetime import datetime

from apps.core.models import Mode
from apps.webhooks.delivery.dispatcher import send_due
from apps.webhooks.models import Delivery, Endpoint, QueuedDelivery

LOOKS_AT = (Endpoint,)
PATIENCE_SECONDS = 10.0


def next_due(store_id: uuid.UUID, after: datetime | None) -> datetime | None:
    """The next moment (store time) at which a delivery is due, strictly later than `after`; one
    under way counts as well.

    Both statuses are read by one statement: between two, a delivery under way could come back to
    wait for its retry and be seen by neither.
    """
    on = Endpoint.objects.filter(
        store_id=store_id, mode=Mode.TEST, status=Endpoint.Status.ACTIVE, deleted_at=None
    )
    later = QueuedDelivery.objects.filter(endpoint_id__in=list(on.values_list("pk", flat=True)))
    later = later.filter(next_attempt_at__isnull=False)
    if after is not None:
        later = later.filter(next_attempt_at__gt=after)

    # One branch for each partial index.
    waiting, under_way = (
        later.filter(status=status).order_by("next_attempt_at").values_list("next_attempt_at")[:1]
        for status in (Delivery.Status.PENDING, Delivery.Status.ATTEMPTING)
    )
    moments = (moment for (moment,) in waiting.union(under_way, all=True) if moment is not None)
    return min(moments, default=None)


def run_due(store_id: uuid.UUID, now: datetime) -> None:
    """Send what is due at `now` and wait for the outcome, though not for receivers that never
    answer."""
    send_due(store_id, now, PATIENCE_SECONDS)
