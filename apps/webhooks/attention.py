"""Endpoints that deliveries don't reach."""

from django.db.models import Exists, F, OuterRef, Q, QuerySet, Subquery
from django.db.models.functions import JSONObject

from apps.core.models import Viewer
from apps.webhooks.models import Delivery, Endpoint, QueuedDelivery

FAILED_ATTEMPTS = 3


_WAITING = QueuedDelivery.objects.filter(
    endpoint=OuterRef("pk"),
    status=Delivery.Status.PENDING,
    attempts__gte=FAILED_ATTEMPTS,
    delivery__is_test=False,
)


def failing_endpoints(viewer: Viewer) -> "QuerySet[Endpoint]":
    """Turned off by the service, or with a delivery that waits after three attempts; a store has
    few endpoints. With `worst`, as `with_worst` says."""
    rows: QuerySet[Endpoint] = Endpoint.objects.visible_to(viewer).filter(deleted_at=None)
    rows = rows.filter(
        Q(status=Endpoint.Status.ERROR) | (Q(status=Endpoint.Status.ACTIVE) & Exists(_WAITING))
    )
    return with_worst(rows).order_by("-updated_at")


def with_worst(rows: "QuerySet[Endpoint]") -> "QuerySet[Endpoint]":
    """Each with `worst`, its delivery that waits and has failed most often: the event's type and
    object, and how many attempts it had; None without any after three attempts."""
    worst = _WAITING.order_by("-attempts", "delivery").values(
        found=JSONObject(
            attempts=F("attempts"),
            type=F("delivery__event__type"),
            object=F("delivery__event__object"),
        )
    )
    return rows.annotate(worst=Subquery(worst[:1]))


def last_failed(endpoint: Endpoint) -> Delivery | None:
    """The newest delivery that failed for good, with its event: it turned the endpoint off."""
    failed = Delivery.objects.filter(endpoint=endpoint, status=Delivery.Status.FAILED)
    return failed.select_related("event").order_by("-created_at").first()
