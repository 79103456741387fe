"""What webhooks forget: deliveries that ended long ago, and then events that no delivery needs any
more."""

from datetime import datetime, timedelta

from django.conf import settings
from django.db.models import Exists, OuterRef

from apps.core.db.pruning import prune_in_turns
from apps.webhooks.models import Attempt, Delivery, Event

_ENDED = (Delivery.Status.DELIVERED, Delivery.Status.FAILED, Delivery.Status.IGNORED)


def prune_all(now: datetime) -> dict[str, int]:
    """How many rows of each kind went. Until then they can be seen and sent again."""
    before = now - timedelta(days=settings.WEBHOOK_KEPT_DAYS)
    needed = Delivery.objects.filter(event=OuterRef("pk"))
    deliveries = Delivery.objects.filter(pk=OuterRef("delivery"))
    return prune_in_turns(
        {
            "deliveries": Delivery.objects.filter(status__in=_ENDED, created_at__lt=before),
            "attempts": Attempt.objects.filter(~Exists(deliveries), at__lt=before),
            "events": Event.objects.filter(~Exists(needed), created_at__lt=before),
        }
    )
