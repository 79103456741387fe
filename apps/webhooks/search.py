"""Endpoints by address, deliveries and events by id; a store has few endpoints, and the rest is
found by primary key."""

from django.db.models import Q

from apps.core.models import Viewer
from apps.core.searching import SearchTerm
from apps.webhooks.models import Delivery, Endpoint, Event


def find_endpoints(viewer: Viewer, term: SearchTerm, limit: int) -> list[Endpoint]:
    """By id, or a part of the URL: of those that there are at once
    (services.endpoints.ENDPOINTS_MAX)."""
    condition = Q(pk=term.id) if term.id is not None else Q(url__icontains=term.text)
    rows = Endpoint.objects.visible_to(viewer).filter(condition, deleted_at=None)
    return list(rows.order_by("-created_at", "-id")[:limit]) if term.text else []


def find_deliveries(viewer: Viewer, term: SearchTerm, limit: int) -> list[Delivery]:
    """By its own id or that of its event, newest first."""
    if term.id is None:
        return []
    rows = (
        Delivery.objects.visible_to(viewer)
        .filter(Q(pk=term.id) | Q(event=term.id))
        .select_related("event", "endpoint")
    )
    return list(rows.defer("endpoint__sealed_secret").order_by("-created_at", "-id")[:limit])


def find_events(viewer: Viewer, term: SearchTerm, limit: int) -> list[Event]:
    """By id."""
    if term.id is None:
        return []
    return list(Event.objects.visible_to(viewer).filter(pk=term.id).defer("object")[:limit])
