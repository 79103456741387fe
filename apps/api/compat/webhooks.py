"""BTCPay Server's webhooks: endpoints that get events in its format, signed with `BTCPay-Sig`."""

import json

from rest_framework.request import Request
from rest_framework.response import Response

from apps.api.compat import documents
from apps.api.compat.requests import AuthorizedEvents, WebhookRequest
from apps.api.compat.views import GreenfieldView, MissingRecord
from apps.core.messages.fields import is_uuid
from apps.core.messages.invalid import Invalid
from apps.webhooks import formats, selectors
from apps.webhooks.models import Delivery, Endpoint
from apps.webhooks.requests import EndpointChanges, EndpointRequest
from apps.webhooks.services import deliveries, endpoints

DELIVERIES_MAX = 100


class WebhookView(GreenfieldView):
    names = {"subscribed_events": "authorizedEvents.specificEvents"}

    def endpoint(self, webhook_id: str) -> Endpoint:
        rows = selectors.endpoints(self.access).filter(format=Endpoint.Format.BTCPAY)
        found: Endpoint | None = (
            rows.select_related("store").filter(pk=webhook_id).first()
            if is_uuid(webhook_id)
            else None
        )
        if found is None:
            raise MissingRecord("webhook")
        return found

    def delivery(self, webhook_id: str, delivery_id: str) -> Delivery:
        rows = selectors.deliveries(self.endpoint(webhook_id))
        found: Delivery | None = (
            rows.filter(pk=delivery_id).first() if is_uuid(delivery_id) else None
        )
        if found is None:
            raise MissingRecord("webhookdelivery")
        return found

    def chosen(self, order: WebhookRequest) -> list[str]:
        """BTCPay's events that are asked for."""
        return (order.authorizedEvents or AuthorizedEvents()).names

    def events(self, order: WebhookRequest) -> list[str]:
        """Our events behind what is asked for. Raises Invalid."""
        names = self.chosen(order)
        if not names:
            raise Invalid("authorizedEvents.specificEvents", "blank")
        return formats.events_for(names)

    def switched(self, endpoint: Endpoint, *, is_on: bool) -> Endpoint:
        switch = endpoints.enable_endpoint if is_on else endpoints.disable_endpoint
        return switch(endpoint, self.access.now(), by=self.access)


class Webhooks(WebhookView):
    """Register a webhook (its secret is shown once), or list them."""

    bodies = {"POST": WebhookRequest}

    def get(self, request: Request, store_id: str) -> Response:
        rows = selectors.endpoints(self.access).filter(format=Endpoint.Format.BTCPAY)
        return Response([documents.webhook(endpoint) for endpoint in rows])

    def post(self, request: Request, store_id: str) -> Response:
        order = self.read(request, WebhookRequest)
        registered = endpoints.register_endpoint(
            self.access,
            EndpointRequest(
                url=order.url,
                subscribed_events=self.events(order),
                metadata={documents.NAMES: self.chosen(order)},
            ),
            format=Endpoint.Format.BTCPAY,
            secret=order.secret or "",
        )
        endpoint = self.switched(registered.endpoint, is_on=order.enabled)
        return Response(documents.webhook(endpoint, registered.secret))


class WebhookById(WebhookView):
    """Read a webhook, change or delete it."""

    bodies = {"PUT": WebhookRequest}

    def get(self, request: Request, store_id: str, webhook_id: str) -> Response:
        return Response(documents.webhook(self.endpoint(webhook_id)))

    def put(self, request: Request, store_id: str, webhook_id: str) -> Response:
        order = self.read(request, WebhookRequest)
        changes = EndpointChanges(
            url=order.url,
            subscribed_events=self.events(order),
            metadata={documents.NAMES: self.chosen(order)},
        )
        endpoint = endpoints.update_endpoint(self.access, self.endpoint(webhook_id), changes)
        return Response(documents.webhook(self.switched(endpoint, is_on=order.enabled)))

    def delete(self, request: Request, store_id: str, webhook_id: str) -> Response:
        endpoints.delete_endpoint(self.endpoint(webhook_id), self.access.now(), by=self.access)
        return Response(status=200)


class WebhookDeliveries(WebhookView):
    """The latest deliveries, newest first."""

    def get(self, request: Request, store_id: str, webhook_id: str) -> Response:
        text = request._request.GET.get("count", "")
        count = int(text) if text.isascii() and text.isdigit() and len(text) < 9 else 25
        rows = selectors.recent_deliveries(
            self.endpoint(webhook_id), min(max(count, 1), DELIVERIES_MAX)
        )
        return Response([documents.delivery(row) for row in rows])


class WebhookDelivery(WebhookView):
    """One delivery."""

    def get(self, request: Request, store_id: str, webhook_id: str, delivery_id: str) -> Response:
        return Response(documents.delivery(self.delivery(webhook_id, delivery_id)))


class WebhookDeliveryRequest(WebhookView):
    """The body of a delivery, as it is sent."""

    def get(self, request: Request, store_id: str, webhook_id: str, delivery_id: str) -> Response:
        row = self.delivery(webhook_id, delivery_id)
        raw = formats.body(
            row.endpoint.format,
            delivery_id=row.pk,
            endpoint_id=row.endpoint_id,
            store_id=row.store_id,
            type=row.event.type,
            created=documents.seconds(row.event.created_at),
            object_json=json.dumps(row.event.object),
        )
        return Response(json.loads(raw))


class WebhookRedelivery(WebhookView):
    """Send a delivery again that failed. Its id stays."""

    bodies = {"POST": None}

    def post(self, request: Request, store_id: str, webhook_id: str, delivery_id: str) -> Response:
        row = self.delivery(webhook_id, delivery_id)
        again = deliveries.redeliver(self.endpoint(webhook_id), row.pk, self.access.now())
        return Response(str(again.pk))
