"""Documents of endpoints and deliveries, and the envelope in which an event is sent.

A whole secret is in the answers that made it and nowhere else.
"""

from typing import Annotated, Generic, TypeVar

from django.conf import settings
from msgspec import UNSET, Meta, UnsetType
from msgspec.structs import asdict

from apps.core.clock import iso
from apps.core.messages.documents import Digits, Document, FreeForm, Id, Time
from apps.webhooks.catalogue import SUBSCRIBABLE
from apps.webhooks.models import Delivery, Endpoint, Event

Object = TypeVar("Object")
EndpointStatus = Annotated[str, Meta(extra_json_schema={"enum": Endpoint.Status.values})]
DeliveryStatus = Annotated[str, Meta(extra_json_schema={"enum": Delivery.Status.values})]


class WebhookEndpointDocument(Document, frozen=True, kw_only=True):
    id: Id
    url: str
    description: str
    status: EndpointStatus
    subscribed_events: list[str]
    signing_secret_preview: str
    platform: str | None
    platform_store_url: str | None
    platform_integration: bool
    metadata: FreeForm
    api_version: str
    livemode: bool
    verified_at: Time | None
    disabled_at: Time | None
    created_at: Time
    updated_at: Time


class WebhookEndpointWithSecret(WebhookEndpointDocument, frozen=True, kw_only=True):
    """The answer of create, adopt and rotate: the only ones with the whole secret."""

    signing_secret: str


class WebhookEndpointListed(WebhookEndpointDocument, frozen=True, kw_only=True):
    """`delivery_success_rate` is in percent, null while no delivery has ended."""

    delivery_success_rate: float | None


class WebhookDeliveryDocument(Document, frozen=True, kw_only=True):
    id: Id
    delivery_id: Id
    event_id: Id
    event_type: str
    status: DeliveryStatus
    attempts: int
    response_status: int | None
    response_body: str | None
    error: str | None
    duration_ms: int | None
    test: bool
    next_attempt_at: Time | None
    delivered_at: Time | None
    created_at: Time


class WebhookEndpointWithDeliveries(WebhookEndpointDocument, frozen=True, kw_only=True):
    """One endpoint, with what was sent to it lately and every event that there is."""

    recent_deliveries: list[WebhookDeliveryDocument]
    available_events: list[str]


class TestDeliveryQueued(Document, frozen=True, kw_only=True):
    """The answer of send_test."""

    delivery_id: Id
    event_type: str
    message: str


class RedeliveryQueued(Document, frozen=True, kw_only=True):
    """The answer of redeliver."""

    message: str


class MissedQueued(Document, frozen=True, kw_only=True):
    """The answer of resend_missed. `has_more` says that more was missed than one call sends: call
    again."""

    message: str
    events_count: int
    has_more: bool


class EventData(Document, Generic[Object], frozen=True, kw_only=True):
    object: Object


class EventFields(Document, frozen=True, kw_only=True):
    """`created` is in unix seconds; `account` is on a platform's copy only."""

    id: Id
    type: str
    created: int
    livemode: bool
    api_version: str
    account: Id | UnsetType = UNSET


class EventDocument(EventFields, Generic[Object], frozen=True, kw_only=True):
    """The body of a delivery."""

    data: EventData[Object]


class WebhookEventData(Document, frozen=True, kw_only=True):
    object: FreeForm


class WebhookEventDocument(EventFields, frozen=True, kw_only=True):
    """An event as it is delivered, in the newest version of the API."""

    data: WebhookEventData


class PayoutEvent(Document, frozen=True, kw_only=True):
    """The object of payout.*, which can be subscribed to and are sent by send_test alone."""

    id: Id
    status: str
    amount_atomic: Digits
    created_at: Time


class SweepEvent(PayoutEvent, frozen=True, kw_only=True):
    """The object of fee_sweep.*, as with payouts."""

    asset_id: str


def endpoint_document(endpoint: Endpoint) -> WebhookEndpointDocument:
    return WebhookEndpointDocument(
        id=str(endpoint.pk),
        url=endpoint.url,
        description=endpoint.description,
        status=endpoint.status,
        subscribed_events=endpoint.subscribed_events,
        signing_secret_preview=endpoint.secret_preview,
        platform=endpoint.platform,
        platform_store_url=endpoint.platform_store_url,
        platform_integration=endpoint.platform is not None,
        metadata=endpoint.metadata,
        api_version=endpoint.api_version,
        livemode=endpoint.is_live,
        verified_at=iso(endpoint.verified_at),
        disabled_at=iso(endpoint.disabled_at),
        created_at=iso(endpoint.created_at),
        updated_at=iso(endpoint.updated_at),
    )


def with_secret(endpoint: Endpoint, secret: str) -> WebhookEndpointWithSecret:
    return WebhookEndpointWithSecret(**asdict(endpoint_document(endpoint)), signing_secret=secret)


def listed(endpoint: Endpoint, delivery_success_rate: float | None) -> WebhookEndpointListed:
    return WebhookEndpointListed(
        **asdict(endpoint_document(endpoint)), delivery_success_rate=delivery_success_rate
    )


def with_deliveries(endpoint: Endpoint, recent: list[Delivery]) -> WebhookEndpointWithDeliveries:
    return WebhookEndpointWithDeliveries(
        **asdict(endpoint_document(endpoint)),
        recent_deliveries=[delivery_document(delivery) for delivery in recent],
        available_events=list(SUBSCRIBABLE),
    )


def delivery_document(delivery: Delivery) -> WebhookDeliveryDocument:
    """The delivery's event must have been fetched with it."""
    return WebhookDeliveryDocument(
        id=str(delivery.pk),
        delivery_id=str(delivery.pk),
        event_id=str(delivery.event_id),
        event_type=delivery.event.type,
        status=delivery.status,
        attempts=delivery.attempts,
        response_status=delivery.response_status,
        response_body=delivery.response_body,
        error=delivery.error,
        duration_ms=delivery.duration_ms,
        test=delivery.is_test,
        next_attempt_at=iso(delivery.next_attempt_at),
        delivered_at=iso(delivery.delivered_at),
        created_at=iso(delivery.created_at),
    )


def event_document(event: Event) -> WebhookEventDocument:
    return WebhookEventDocument(
        id=str(event.pk),
        type=event.type,
        created=int(event.created_at.timestamp()),
        livemode=event.is_live,
        api_version=settings.API_VERSION,
        account=UNSET if event.account_id is None else str(event.account_id),
        data=WebhookEventData(object=event.object),
    )


def test_delivery_queued(delivery: Delivery) -> TestDeliveryQueued:
    return TestDeliveryQueued(
        delivery_id=str(delivery.pk), event_type=delivery.event.type, message="Test delivery queued"
    )
