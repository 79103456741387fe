"""What the API tells of endpoints and deliveries. A whole secret is in the answers that made it and nowhere else."""

from typing import Any

from apps.core.clock import iso
from apps.webhooks.catalogue import SUBSCRIBABLE
from apps.webhooks.models import Delivery, Endpoint


def endpoint_document(endpoint: Endpoint) -> dict[str, Any]:
    return {
        "id": str(endpoint.pk),
        "url": endpoint.url,
        "description": endpoint.description,
        "status": endpoint.status,
        "subscribed_events": endpoint.subscribed_events,
        "signing_secret_preview": endpoint.secret_preview,
        "platform": endpoint.platform,
        "platform_store_url": endpoint.platform_store_url,
        "platform_integration": endpoint.platform is not None,
        "metadata": endpoint.metadata,
        "api_version": endpoint.api_version,
        "livemode": endpoint.is_live,
        "verified_at": iso(endpoint.verified_at),
        "disabled_at": iso(endpoint.disabled_at),
        "created_at": iso(endpoint.created_at),
        "updated_at": iso(endpoint.updated_at),
    }


def with_secret(endpoint: Endpoint, secret: str) -> dict[str, Any]:
    """The answer of create, adopt and rotate."""
    return {**endpoint_document(endpoint), "signing_secret": secret}


def listed(endpoint: Endpoint, delivery_success_rate: float | None) -> dict[str, Any]:
    return {**endpoint_document(endpoint), "delivery_success_rate": delivery_success_rate}


def retrieved(endpoint: Endpoint, recent: list[Delivery]) -> dict[str, Any]:
    return {
        **endpoint_document(endpoint),
        "recent_deliveries": [delivery_document(delivery) for delivery in recent],
        "available_events": list(SUBSCRIBABLE),
    }


def delivery_document(delivery: Delivery) -> dict[str, Any]:
    """The delivery's event must have been fetched with it."""
    return {
        "id": str(delivery.pk),
        "delivery_id": str(delivery.pk),
        "event_id": str(delivery.event_id),
        "event_type": delivery.event.type,
        "status": delivery.status,
        "attempts": delivery.attempts,
        "response_status": delivery.response_status,
        "response_body": delivery.response_body,
        "error": delivery.error,
        "duration_ms": delivery.duration_ms,
        "test": delivery.is_test,
        "next_attempt_at": iso(delivery.next_attempt_at),
        "delivered_at": iso(delivery.delivered_at),
        "created_at": iso(delivery.created_at),
    }
