"""What a store's test clock makes due here: the deliveries that wait for their next attempt."""

import uuid
from datetime import datetime

from django.db.models import Min

from apps.core.models import Mode
from apps.webhooks.delivery.dispatcher import send_due
from apps.webhooks.models import Delivery, Endpoint

PATIENCE_SECONDS = 10.0


def next_due(store_id: uuid.UUID, after: datetime | None) -> datetime | None:
    """The next moment (store time) at which a delivery is due, strictly later than `after`; one
    under way counts as well."""
    on = Endpoint.objects.filter(
        store_id=store_id, mode=Mode.TEST, status=Endpoint.Status.ACTIVE, deleted_at=None
    )
    moments = []
    for status in (Delivery.Status.PENDING, Delivery.Status.ATTEMPTING):
        waiting = Delivery.objects.filter(
            endpoint_id__in=list(on.values_list("pk", flat=True)), status=status
        )
        later = waiting if after is None else waiting.filter(next_attempt_at__gt=after)
        moments.append(later.aggregate(first=Min("next_attempt_at"))["first"])
    return min((moment for moment in moments if moment is not None), default=None)


def run_due(store_id: uuid.UUID, now: datetime) -> None:
    """Send what is due at `now` and wait for the outcome, though not for receivers that never
    answer."""
    send_due(store_id, now, PATIENCE_SECONDS)
