"""Pruning of webhooks: months of events with their deliveries and failed attempts, as soon as all
of a month was kept long enough and none of it waits (decision 430).

What isn't of a month goes row by row, and so does what is of one that should have gone a month ago:
deliveries that ended long ago, then events that no delivery needs any more.
"""

from datetime import datetime, timedelta

from django.conf import settings
from django.db.models import Exists, OuterRef, Q

from apps.core.db import partitions
from apps.core.db.partitions import Division, MonthsOfIds
from apps.core.db.pruning import prune_in_turns
from apps.webhooks.models import Attempt, Delivery, Event, QueuedDelivery

MONTHS = Division(
    {Event: "id", Delivery: "id", Attempt: "delivery_id"},
    MonthsOfIds(),
    ahead=1,
    waiting=QueuedDelivery,
)
MONTH = 31 * partitions.DAY
_ENDED = (Delivery.Status.DELIVERED, Delivery.Status.FAILED, Delivery.Status.IGNORED)


def prune_all(now: datetime) -> dict[str, int]:
    """Deletes old rows, and returns the number of each kind. Until then they can be seen and sent
    again."""
    before = now - timedelta(days=settings.WEBHOOK_KEPT_DAYS)
    partitions.make_ahead(MONTHS, now)
    dropped = partitions.drop_before(MONTHS, before)
    # One delivery that never ends would keep its whole month.
    late = MONTHS.scale.value(MONTHS.scale.start_of(before - MONTH))
    events, deliveries, attempts = (
        model._default_manager.filter(
            partitions.outside(MONTHS, column) | Q(**{f"{column}__lt": late})
        )
        for model, column in MONTHS.columns.items()
    )
    counts = prune_in_turns(
        {
            "deliveries": deliveries.filter(status__in=_ENDED, created_at__lt=before),
            "attempts": attempts.filter(
                ~Exists(deliveries.filter(pk=OuterRef("delivery"))), at__lt=before
            ),
            "events": events.filter(
                ~Exists(deliveries.filter(event=OuterRef("pk"))), created_at__lt=before
            ),
        }
    )
    return {
        "deliveries": counts["deliveries"] + dropped[Delivery],
        "attempts": counts["attempts"] + dropped[Attempt],
        "events": counts["events"] + dropped[Event],
    }
