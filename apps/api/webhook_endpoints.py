"""/webhook_endpoints: where a merchant wants to hear of events, and what became of each
delivery."""

from collections.abc import Mapping
from typing import Annotated, ClassVar, TypeVar

from rest_framework.request import Request
from rest_framework.response import Response

from apps.api.plumbing.queries import Query, choice
from apps.api.plumbing.refusals import ErrorShape, ErrorText, ErrorTexts
from apps.api.plumbing.views import ApiView
from apps.core.errors import Failure
from apps.core.messages.fields import Invalid, Schema, any_of
from apps.core.messages.requests import Changes, shape_of
from apps.webhooks import documents, selectors
from apps.webhooks.documents import (
    MissedQueued,
    RedeliveryQueued,
    TestDeliveryQueued,
    WebhookEndpointDocument,
    WebhookEndpointListed,
    WebhookEndpointWithDeliveries,
    WebhookEndpointWithSecret,
)
from apps.webhooks.models import Endpoint
from apps.webhooks.requests import (
    EndpointChanges,
    EndpointRequest,
    RedeliverBody,
    ResendMissedBody,
    SendTestBody,
)
from apps.webhooks.services import deliveries, endpoints

WRAPPER = "webhook_endpoint"
# Registering a platform again may leave the address out, which everybody else must have; a platform
# that names no events has all of the usual ones.
_NEW: Schema = {
    **shape_of(EndpointRequest).schema(),
    "required": ["url"],
    **any_of("subscribed_events", "platform"),
}
_CHANGES = shape_of(EndpointChanges)
_UNWRAPPED: Schema = {**_CHANGES.schema(), "minProperties": 1, "additionalProperties": False}
Fields = TypeVar("Fields", bound=Changes)


def _wrapped(fields: Schema) -> Schema:
    return {"type": "object", "properties": {WRAPPER: fields}, "required": [WRAPPER]}


class EndpointView(ApiView):
    shape: ClassVar[ErrorShape] = ErrorTexts
    shapes: ClassVar[Mapping[type[Failure], ErrorShape]] = {endpoints.IntegrationExists: ErrorText}

    def label_of(self, field: str) -> str:
        """Sentences of this view begin with the field: `Subscribed events`."""
        return field.capitalize().replace("_", " ")

    def endpoint(self, id: str) -> Endpoint:
        return self.find(selectors.endpoints(self.access).select_related("store"), id)

    def read_all(
        self, request: Request, document: type[Fields]
    ) -> tuple[Fields, dict[str, Invalid]]:
        """The fields in the wrapper as what they ask for, and what is wrong about the others.
        Raises Invalid without them."""
        body = self.body(request)
        fields = self.fields(body)
        self.check_fields(body, fields, document, WRAPPER)
        return document.read_all(fields, WRAPPER)

    def fields(self, body: Mapping[str, object]) -> object:
        if body.get(WRAPPER) is None:
            raise Invalid(WRAPPER, "required")
        return body[WRAPPER]


class EndpointFilters(Query, frozen=True, kw_only=True):
    status: Annotated[str, choice(Endpoint.Status.values)] | None = None


class Endpoints(EndpointView):
    """Register an endpoint (its secret is shown once; naming a platform adopts the store's
    integration), or list them."""

    asks_for_code = True
    query = EndpointFilters
    bodies = {"POST": _wrapped(_NEW)}
    answers = {"GET": list[WebhookEndpointListed], "POST": WebhookEndpointWithSecret}
    also = {"POST": {200: None}}
    statuses = {"POST": 201}

    def get(self, request: Request) -> Response:
        rows = selectors.with_success_rates(
            self.access, EndpointFilters.read(request.query_params).status
        )
        return Response([documents.listed(endpoint, rate) for endpoint, rate in rows])

    def post(self, request: Request) -> Response:
        registration = endpoints.register_endpoint(
            self.access, *self.read_all(request, EndpointRequest)
        )
        return Response(
            documents.with_secret(registration.endpoint, registration.secret),
            status=201 if registration.is_new else 200,
        )


class EndpointById(EndpointView):
    """One endpoint with its recent deliveries; change it, or delete it and keep what was
    delivered."""

    asks_for_code = True
    asks_on = ("PATCH", "DELETE")
    bodies = {"PATCH": {"anyOf": [_wrapped(_CHANGES.schema()), _UNWRAPPED]}}
    answers = {"GET": WebhookEndpointWithDeliveries, "PATCH": WebhookEndpointDocument}
    statuses = {"DELETE": 204}

    def get(self, request: Request, id: str) -> Response:
        endpoint = self.endpoint(id)
        return Response(documents.with_deliveries(endpoint, selectors.recent_deliveries(endpoint)))

    def fields(self, body: Mapping[str, object]) -> object:
        """A change may also come without the wrapper."""
        return (
            body
            if body.keys() & _CHANGES.fields.keys() and body.get(WRAPPER) is None
            else super().fields(body)
        )

    def patch(self, request: Request, id: str) -> Response:
        endpoint = endpoints.update_endpoint(
            self.access, self.endpoint(id), *self.read_all(request, EndpointChanges)
        )
        return Response(documents.endpoint_document(endpoint))

    def delete(self, request: Request, id: str) -> Response:
        endpoints.delete_endpoint(self.endpoint(id), self.access.now(), by=self.access)
        return Response(status=204)


class Enable(EndpointView):
    """Turn an endpoint on again."""

    bodies = {"PATCH": None}
    answers = {"PATCH": WebhookEndpointDocument}

    def patch(self, request: Request, id: str) -> Response:
        endpoint = endpoints.enable_endpoint(self.endpoint(id), self.access.now(), by=self.access)
        return Response(documents.endpoint_document(endpoint))


class Disable(EndpointView):
    """Turn an endpoint off; what waits for it is not sent."""

    bodies = {"PATCH": None}
    answers = {"PATCH": WebhookEndpointDocument}

    def patch(self, request: Request, id: str) -> Response:
        endpoint = endpoints.disable_endpoint(self.endpoint(id), self.access.now(), by=self.access)
        return Response(documents.endpoint_document(endpoint))


class RotateSecret(EndpointView):
    """A new signing secret, shown once; the old one ends at once."""

    bodies = {"POST": None}
    answers = {"POST": WebhookEndpointWithSecret}
    asks_for_code = True

    def post(self, request: Request, id: str) -> Response:
        endpoint = self.endpoint(id)
        secret = endpoints.rotate_secret(endpoint, self.access.now(), by=self.access)
        return Response(documents.with_secret(endpoint, secret))


class SendTest(EndpointView):
    """Send a made-up event of a type."""

    shape = ErrorText
    bodies = {"POST": SendTestBody}
    answers = {"POST": TestDeliveryQueued}

    def post(self, request: Request, id: str) -> Response:
        endpoint = self.endpoint(id)
        delivery = deliveries.send_test(
            endpoint, self.read(request, SendTestBody).event_type, self.access.now()
        )
        return Response(documents.test_delivery_queued(delivery))


class Redeliver(EndpointView):
    """Send a failed or ignored delivery again."""

    shape = ErrorText
    bodies = {"POST": RedeliverBody}
    answers = {"POST": RedeliveryQueued}

    def post(self, request: Request, id: str) -> Response:
        endpoint = self.endpoint(id)
        chosen = self.read(request, RedeliverBody).delivery_id
        delivery_id = request.query_params.get("delivery_id") if chosen is None else chosen
        if not delivery_id:
            raise Invalid("delivery_id", "required")
        deliveries.redeliver(endpoint, delivery_id, self.access.now())
        return Response(RedeliveryQueued(message="Redelivery queued"))


class ResendMissed(EndpointView):
    """Send every event that hasn't reached the endpoint and isn't on its way, oldest first, up to
    1,000 in a call: for a receiver that was down or turned off."""

    shape = ErrorText
    bodies = {"POST": ResendMissedBody}
    answers = {"POST": MissedQueued}

    def post(self, request: Request, id: str) -> Response:
        endpoint = self.endpoint(id)
        since = self.read(request, ResendMissedBody).since
        sent = deliveries.resend_missed(endpoint, since, self.access.now())
        message = "Missed events queued" if sent.number else "No events were missed"
        return Response(
            MissedQueued(message=message, events_count=sent.number, has_more=sent.has_more)
        )
