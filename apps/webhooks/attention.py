"""Endpoints that deliveries don't reach."""

from django.db.models import Exists, OuterRef, Q, QuerySet

from apps.core.models import Viewer
from apps.webhooks.models import Delivery, Endpoint, QueuedDelivery

FAILED_ATTEMPTS = 3


def failing_endpoints(viewer: Viewer) -> "QuerySet[Endpoint]":
    """Turned off by the service, or with a delivery that waits after three attempts; a store has
    few endpoints."""
    waiting = QueuedDelivery.objects.filter(
        endpoint=OuterRef("pk"),
        status=Delivery.Status.PENDING,
        attempts__gte=FAILED_ATTEMPTS,
        delivery__is_test=False,
    )
    rows = Endpoint.objects.visible_to(viewer).filter(deleted_at=None)
    rows = rows.filter(
        Q(status=Endpoint.Status.ERROR) | (Q(status=Endpoint.Status.ACTIVE) & Exists(waiting))
    )
    return rows.order_by("-updated_at")
