"""Endpoints that deliveries don't reach."""

from django.db.models import Exists, F, OuterRef, Q, QuerySet, Subquery
from django.db.models.functions import JSONObject

from apps.core.models import Viewer
from apps.webhooks.models import Delivery, Endpoint, QueuedDelivery

FAILED_ATTEMPTS = 3


def failing_endpoints(viewer: Viewer) -> "QuerySet[Endpoint]":
    """Turned off by the service, or with a delivery that waits after three attempts; a store has
    few endpoints. `worst` is that delivery which has failed most often: the event's type and
    object, and how many attempts it had."""
    waiting = QueuedDelivery.objects.filter(
        endpoint=OuterRef("pk"),
        status=Delivery.Status.PENDING,
        attempts__gte=FAILED_ATTEMPTS,
        delivery__is_test=False,
    )
    rows: QuerySet[Endpoint] = Endpoint.objects.visible_to(viewer).filter(deleted_at=None)
    rows = rows.filter(
        Q(status=Endpoint.Status.ERROR) | (Q(status=Endpoint.Status.ACTIVE) & Exists(waiting))
    )
    worst = waiting.order_by("-attempts", "delivery").values(
        found=JSONObject(
            attempts=F("attempts"),
            type=F("delivery__event__type"),
            object=F("delivery__event__object"),
        )
    )
    return rows.annotate(worst=Subquery(worst[:1])).order_by("-updated_at")
